//! Training, evaluation, benchmarks and downloads.

use crate::support::{Read, container, script, script_with};

/// Facts about the run, as `name=value`.
#[track_caller]
fn run(read: &Read, want: &[&str]) {
    let facts = read.inventory.properties.iter().filter_map(|(name, values)| Some((name.strip_prefix("aibom.run.")?, values)));
    let mut have: Vec<String> = facts.flat_map(|(name, values)| values.iter().map(move |value| format!("{name}={value}"))).collect();
    have.sort();
    assert_eq!(have, want);
}

/// Facts about the datasets, as `name property=value`.
#[track_caller]
fn data(read: &Read, want: &[&str]) {
    let mut have = Vec::new();
    for data in &read.inventory.data {
        for (name, values) in &data.finding.properties {
            let Some(name) = name.strip_prefix("dataset.") else { continue };
            have.extend(values.iter().map(|value| format!("{} {name}={value}", data.name)));
        }
    }
    have.sort();
    assert_eq!(have, want);
}

// Launchers.

#[test]
fn the_program_behind_a_launcher_decides_what_a_job_does() {
    // Training, evaluation, serving and a test of the network under the same launcher.
    script("torchrun --nnodes 2 --nproc-per-node=8 train.py --model_name_or_path acme/base").gives(&[
        "base acme/base",
        "fine-tuning",
        "pytorch",
    ]);
    script("torchrun --nproc_per_node 8 -m lm_eval --model hf --model_args pretrained=acme/m --tasks arc").gives(&[
        "dataset arc",
        "evaluation",
        "lm-eval",
        "pytorch",
        "target acme/m",
    ]);
    script("accelerate launch --num_processes 2 -m lm_eval --model hf --model_args pretrained=acme/m").gives(&[
        "accelerate",
        "evaluation",
        "lm-eval",
        "target acme/m",
    ]);
    script("torchrun --standalone --nproc-per-node 8 -m vllm.entrypoints.openai.api_server --model acme/m").gives(&[
        "inference",
        "main acme/m",
        "pytorch",
        "vllm",
    ]);
    script("mpirun -np 8 --allow-run-as-root --mca btl tcp,self -x NCCL_DEBUG all_reduce_perf -b 8").gives(&[]);
}

#[test]
fn options_of_a_launcher_take_as_many_words_as_they_take() {
    script("torchrun --standalone --no-python bash run.sh").gives(&["pytorch", "training"]);
    script("torchrun --log-dir /logs --tee 3 --max-restarts 1 -m verl.trainer.sft_trainer model.path=acme/m").gives(&[
        "base acme/m",
        "fine-tuning",
        "pytorch",
        "verl",
    ]);
    script("accelerate launch --multi_gpu --mixed_precision bf16 --debug run_clm.py --model_name_or_path acme/m").gives(&[
        "accelerate",
        "base acme/m",
        "fine-tuning",
        "transformers",
    ]);
    script("deepspeed --hostfile /etc/h --include localhost:0,1 run_clm.py --model_name_or_path acme/m --deepspeed ds.json").gives(&[
        "base acme/m",
        "deepspeed",
        "fine-tuning",
        "transformers",
    ]);
    script("deepspeed --module openrlhf.cli.train_sft --pretrain acme/m --dataset acme/d").gives(&[
        "base acme/m",
        "dataset acme/d",
        "deepspeed",
        "fine-tuning",
        "openrlhf",
    ]);
    // An option with two words in front of the program.
    script("mpirun -n 2 --mca plm_rsh_agent ssh -H a,b python3 -m lm_eval --model_args pretrained=acme/m").gives(&[
        "evaluation",
        "lm-eval",
        "target acme/m",
    ]);
    script("srun -N 2 --container-image=x --mpi pmix python -m openrlhf.cli.train_dpo --pretrain acme/m").gives(&[
        "base acme/m",
        "fine-tuning",
        "openrlhf",
    ]);
}

#[test]
fn a_submitted_job_is_what_follows_the_dashes() {
    script("ray job submit --address http://acme:8265 --working-dir . --runtime-env-json '{\"pip\": [\"acme\"]}' --no-wait -- python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo actor_rollout_ref.model.path=acme/m")
        .gives(&["base acme/m", "fine-tuning", "verl"]);
    script("ray job submit --entrypoint-num-gpus 1 -- vllm serve acme/m").gives(&["inference", "main acme/m", "vllm"]);
}

#[test]
fn programs_that_run_programs_are_taken_off() {
    for front in [
        "uv run --no-sync --with acme",
        "poetry run",
        "conda run -n e --no-capture-output",
        "micromamba run -n e",
        "pipx run",
        "uvx",
        "xvfb-run -s x",
        "nohup",
        "sudo -E",
    ] {
        script(&format!("{front} lm_eval --model_args pretrained=acme/m")).gives(&["evaluation", "lm-eval", "target acme/m"]);
    }
    script("uv run examples/run_grpo.py --config c.yaml policy.model_name=acme/m").gives(&["base acme/m", "fine-tuning", "nemo-rl"]);
}

#[test]
fn installing_a_program_is_no_proof_that_it_runs() {
    script("pip install 'huggingface_hub==1.0' aiperf lm_eval\ngit clone https://github.com/acme/x\nsleep 5").gives(&[]);
}

// Training.

#[test]
fn without_weights_to_begin_with_a_run_trains_from_scratch() {
    script("torchrun run_clm.py --model_type gpt2 --config_name acme/config --tokenizer_name acme/tok --dataset_name acme/d --do_train")
        .gives(&["dataset acme/d", "pytorch", "tokenizer acme/tok", "training", "transformers"]);
    script(
        "torchrun /fsdp/train.py --model_type=llama_v3 --hidden_width=4096 --tokenizer=acme/tok --dataset=acme/c4 --dataset_config_name=en",
    )
    .gives(&["dataset acme/c4", "pytorch", "tokenizer acme/tok", "training"]);
}

#[test]
fn evaluating_alone_is_no_training() {
    script("python run_clm.py --model_name_or_path acme/m --do_eval --validation_file v.json").gives(&[
        "dataset v.json",
        "evaluation",
        "target acme/m",
        "transformers",
    ]);
    script("python run_clm.py --model_name_or_path acme/m --do_train --do_eval").gives(&["base acme/m", "fine-tuning", "transformers"]);
}

#[test]
fn what_a_run_makes_is_no_model() {
    let read = script(
        "trl sft --model_name_or_path acme/base --dataset_name acme/d --dataset_config en --output_dir /out --push_to_hub --hub_model_id acme/made --use_peft",
    );
    read.gives(&["base acme/base", "dataset acme/d", "fine-tuning", "trl"]);
    run(&read, &["method=sft", "output-repository=acme/made", "output=/out"]);
    data(&read, &["acme/d config=en", "acme/d use=train"]);
    // A checkpoint of its own is none to begin with.
    script("python run_clm.py --model_name_or_path acme/m --resume_from_checkpoint /out/checkpoint-10").gives(&[
        "base acme/m",
        "fine-tuning",
        "transformers",
    ]);
}

#[test]
fn prompts_and_tasks_are_neither_models_nor_data() {
    script("accelerate launch train_dreambooth_lora.py --pretrained_model_name_or_path=acme/sd --instance_data_dir=/d --instance_prompt='a photo of acme/x' --rank=4")
        .gives(&["accelerate", "base acme/sd", "dataset /d", "diffusers", "fine-tuning"]);
    script("python run_glue.py --model_name_or_path acme/m --task_name mrpc --gaudi_config_name Habana/bert").gives(&[
        "base acme/m",
        "fine-tuning",
        "transformers",
    ]);
}

#[test]
fn a_trainer_that_serves_is_a_server() {
    script("trl vllm-serve --model acme/m").gives(&["inference", "main acme/m", "trl", "vllm"]);
    script("swift deploy --model acme/m --use_hf true").gives(&["inference", "main acme/m", "ms-swift"]);
    script("llamafactory-cli api --model_name_or_path acme/m --template acme").gives(&["inference", "llama-factory", "main acme/m"]);
    script("litgpt serve acme/m").gives(&["inference", "litgpt", "main acme/m"]);
    script("python -m openrlhf.cli.serve_rm --reward_pretrain acme/rm").gives(&["inference", "judge acme/rm", "openrlhf"]);
    script("python -m mlx_lm.server --model acme/m").gives(&["inference", "main acme/m", "mlx"]);
}

#[test]
fn a_reward_model_counts_only_when_it_is_switched_on() {
    let ppo = "python3 -m verl.trainer.main_ppo data.train_files=\"['/d/a.parquet','/d/b.parquet']\" data.val_files=/d/v.parquet actor_rollout_ref.model.path=acme/m actor_rollout_ref.rollout.name=vllm trainer.default_local_dir=/out";
    let read = script(&format!(
        "{ppo} algorithm.adv_estimator=gae critic.model.path=acme/critic reward_model.enable=True reward_model.model.path=acme/rm"
    ));
    read.gives(&[
        "base acme/critic",
        "base acme/m",
        "dataset /d/a.parquet",
        "dataset /d/b.parquet",
        "dataset /d/v.parquet",
        "fine-tuning",
        "judge acme/rm",
        "verl",
    ]);
    run(&read, &["method=gae", "output=/out", "rollout=vllm"]);
    script(&format!("{ppo} algorithm.adv_estimator=grpo critic.model.path=acme/critic ++reward_model.model.path=acme/rm")).gives(&[
        "base acme/m",
        "dataset /d/a.parquet",
        "dataset /d/b.parquet",
        "dataset /d/v.parquet",
        "fine-tuning",
        "verl",
    ]);
}

#[test]
fn overrides_with_signs_in_front_and_escaped_lists_are_read() {
    script("torchrun megatron_gpt_finetuning.py model.restore_from_path=/m/acme.nemo +model.tokenizer.model=acme/tok ++model.data.train_ds.file_names=\\[/d/a.jsonl,/d/b.jsonl\\] ~trainer.x exp_manager.explicit_log_dir=/out model.peft.peft_scheme=lora")
        .gives(&["base /m/acme.nemo", "dataset /d/a.jsonl", "dataset /d/b.jsonl", "fine-tuning", "nemo", "pytorch", "tokenizer acme/tok"]);
}

#[test]
fn roles_of_reinforcement_learning_stay_apart() {
    script("python3 -m openrlhf.cli.train_ppo_ray --actor.model_name_or_path acme/m --ref.model_name_or_path acme/ref --critic.model_name_or_path acme/critic --reward.model_name_or_path acme/rm --data.prompt_dataset acme/a,acme/b --eval.dataset acme/c --ckpt.output_dir /out")
        .gives(&["base acme/critic", "base acme/m", "base acme/ref", "dataset acme/a", "dataset acme/b", "dataset acme/c", "fine-tuning", "judge acme/rm", "openrlhf"]);
    // An address of a reward server is called, and no model.
    script("python3 -m openrlhf.cli.train_ppo_ray --pretrain acme/m --remote_rm_url http://acme:5000/x").gives(&[
        "base acme/m",
        "fine-tuning",
        "openrlhf",
    ]);
}

#[test]
fn loading_where_one_saves_is_resuming() {
    script("torchrun pretrain_gpt.py --load /ckpt --save /ckpt --tokenizer-type HuggingFaceTokenizer --tokenizer-model acme/tok --data-path 1 /d/text_document")
        .gives(&["dataset /d/text_document", "megatron", "pytorch", "tokenizer acme/tok", "training"]);
    script("torchrun pretrain_gpt.py --load /base --save /ckpt --mock-data --data-path /d/x").gives(&[
        "base /base",
        "fine-tuning",
        "megatron",
        "pytorch",
    ]);
    script("python3 slime/train.py --hf-checkpoint /m/acme --load /c --save /c --prompt-data /d/p.jsonl").gives(&[
        "base /m/acme",
        "dataset /d/p.jsonl",
        "fine-tuning",
        "slime",
    ]);
}

#[test]
fn a_name_of_an_architecture_is_no_pretrained_model() {
    let read = script(
        "python3 -m MaxText.train MaxText/configs/base.yml model_name=llama3.1-8b dataset_type=synthetic dataset_name=c4/en:3.1.0 tokenizer_path=acme/tok base_output_directory=gs://acme/out run_name=r",
    );
    read.gives(&["maxtext", "tokenizer acme/tok", "training"]);
    run(&read, &["architecture=llama3.1-8b", "name=r", "output=gs://acme/out"]);
    script("python3 -m maxtext.trainers.post_train.sft.train_sft x.yml model_name=gemma3-4b load_parameters_path=gs://acme/w/0/items hf_path=acme/d dataset_type=hf")
        .gives(&["base gs://acme/w/0/items", "dataset acme/d", "fine-tuning", "maxtext"]);
    script("python3 -m MaxText.train_compile x.yml model_name=llama3.1-8b").gives(&[]);
}

#[test]
fn a_file_format_in_the_place_of_a_dataset_is_none() {
    script("tune run --nproc_per_node 2 lora_finetune_distributed --config llama3_2/1B_lora dataset.source=parquet dataset.data_files=/d/x.parquet checkpointer.checkpoint_dir=/m output_dir=/out")
        .gives(&["base /m", "dataset /d/x.parquet", "fine-tuning", "torchtune"]);
    script("tune run full_finetune_single_device --config x dataset.source=acme/d checkpointer.checkpoint_dir=/m").gives(&[
        "base /m",
        "dataset acme/d",
        "fine-tuning",
        "torchtune",
    ]);
    script("tune download acme/m --output-dir /m").gives(&["data-preparation", "main acme/m"]);
}

#[test]
fn preparing_data_with_a_training_script_is_no_training() {
    script("python examples/protein/esm2nv/pretrain.py --config-path=conf ++do_training=False ++model.data.dataset_path=/fsx/acme")
        .gives(&["bionemo", "data-preparation", "dataset /fsx/acme"]);
    script("axolotl preprocess c.yml").gives(&["data-preparation"]);
}

#[test]
fn models_of_another_hub_are_no_repositories_of_this_one() {
    let read = script(
        "swift sft --model acme/m --dataset 'hf::acme/d:sub#500' acme/e --val_dataset acme/v --tuner_type lora --model_name bot --output_dir /out",
    );
    read.gives(&["base acme/m", "dataset acme/d", "dataset acme/e", "dataset acme/v", "fine-tuning", "ms-swift"]);
    assert_eq!(read.inventory.models[0].reference.form(), "name");
    data(&read, &["acme/d config=sub", "acme/d use=train", "acme/e use=train", "acme/v use=eval"]);
    let read = script("modelscope download --model acme/m --local_dir /m");
    assert_eq!(read.inventory.models[0].reference.form(), "name");
    let read = script("swift sft --model acme/m --use_hf true");
    assert_eq!(read.inventory.models[0].reference.form(), "hub");
}

#[test]
fn a_configuration_that_is_all_there_is_leaves_the_model_unresolved() {
    script("axolotl train /cfg/a.yml --launcher torchrun").gives(&["axolotl", "fine-tuning", "unresolved model config-file /cfg/a.yml"]);
    script("axolotl train /cfg/a.yml --base-model=acme/m").gives(&["axolotl", "base acme/m", "fine-tuning"]);
    script("llamafactory-cli train /cfg/a.yaml model_name_or_path=acme/m dataset=identity,alpaca_en_demo template=acme output_dir=/out")
        .gives(&["base acme/m", "dataset alpaca_en_demo", "dataset identity", "fine-tuning", "llama-factory"]);
}

#[test]
fn variables_of_a_training_are_read_by_what_they_are_for() {
    let read = script_with(
        &[("MODEL_NAME", "acme/base"), ("NEW_MODEL", "acme-tuned"), ("MODEL_PATH", "/out/model"), ("TRAINING_DATASET_PATH", "data/train")],
        "accelerate launch --config_file f.yaml fine_tune.py",
    );
    read.gives(&["accelerate", "base acme/base", "dataset data/train", "fine-tuning"]);
    run(&read, &["output-repository=acme-tuned"]);
    // The same name alone says nothing.
    script_with(&[("MODEL_NAME", "acme/base")], "python app.py").gives(&[]);
}

#[test]
fn two_variables_of_a_training_tell_one_where_nothing_else_tells_anything() {
    let tuned = "env: [{name: MODEL_NAME, value: acme/base}, {name: LORA_R, value: '8'}, {name: NEW_MODEL, value: acme-tuned}]";
    container(&format!("{{image: $IMAGE_URL, {tuned}}}")).gives(&[
        "base acme/base",
        "fine-tuning",
        "unresolved image placeholder $IMAGE_URL",
    ]);
    container("{image: $IMAGE_URL, env: [{name: MODEL_NAME, value: acme/base}, {name: LORA_R, value: '8'}]}")
        .gives(&["unresolved image placeholder $IMAGE_URL"]);
    // What runs says more.
    container(&format!("{{image: 'vllm/vllm-openai:v0.10.1', command: [vllm, serve, acme/m], {tuned}}}")).gives(&[
        "inference",
        "main acme/m",
        "vllm",
    ]);
}

#[test]
fn variables_of_a_submitted_job_are_those_of_its_program() {
    script("ray job submit --runtime-env-json '{\"env_vars\": {\"DATASET_PATH\": \"/d/a.csv\", \"HF_TOKEN\": \"hf_x\"}}' -- python preprocessing_acme.py")
        .gives(&["data-preparation", "dataset /d/a.csv"]);
    script("ray job submit --runtime-env-json=broken -- python preprocessing_acme.py").gives(&["data-preparation"]);
}

#[test]
fn the_name_of_a_script_tells_its_work_and_nothing_else() {
    script("python AcmeTrain.py --maxlen 256").gives(&["training"]);
    script("python validate_fine_tuned_model.py").gives(&["evaluation"]);
    script("python constrain.py\npython trainers_schedule.py\npython retrieval.py").gives(&[]);
}

#[test]
fn classes_and_demos_are_no_models() {
    script("python main.py fit --model MyNet --data MyData").gives(&[]);
    script("python /opt/mnist.py --epochs 1").gives(&[]);
    script("yolo detect train data=coco8.yaml model=yolo11n.yaml project=/out").gives(&["dataset coco8.yaml", "training", "ultralytics"]);
    script("yolo detect train data=coco8.yaml model=yolo11n.pt").gives(&[
        "base yolo11n.pt",
        "dataset coco8.yaml",
        "fine-tuning",
        "ultralytics",
    ]);
}

// Evaluation.

#[test]
fn the_back_end_of_an_evaluation_is_no_model() {
    let read = script(
        "lm_eval --model hf --model_args pretrained=acme/m,dtype=auto,peft=acme/lora,revision=v2 --tasks hellaswag,arc_easy --output_path /r",
    );
    read.gives(&["adapter acme/lora", "dataset arc_easy", "dataset hellaswag", "evaluation", "lm-eval", "target acme/m @v2"]);
    run(&read, &["backend=hf", "output=/r"]);
    script("lm-eval run -M local-completions -a model=served tokenizer=acme/tok base_url=http://acme:8000/v1 -t arc hellaswag").gives(&[
        "dataset arc",
        "dataset hellaswag",
        "evaluation",
        "lm-eval",
        "target served",
        "tokenizer acme/tok",
    ]);
    script("lm_eval --model vllm --model_args '{\"pretrained\": \"acme/m\", \"tensor_parallel_size\": 2}'").gives(&[
        "evaluation",
        "lm-eval",
        "target acme/m",
    ]);
    script("lm_eval ls tasks").gives(&[]);
}

#[test]
fn a_model_that_is_not_given_to_an_evaluation_is_unresolved() {
    script("lm_eval --model hf --model_args pretrained=${MODEL},dtype=auto").gives(&[
        "evaluation",
        "lm-eval",
        "unresolved model undefined-variable MODEL",
    ]);
    script_with(&[("MODEL", "acme/m")], "lm_eval --model hf --model_args pretrained=${MODEL},dtype=auto").gives(&[
        "evaluation",
        "lm-eval",
        "target acme/m",
    ]);
}

#[test]
fn positional_arguments_of_an_evaluation_keep_their_order() {
    script("lighteval accelerate 'model_name=acme/m,revision=r1,generation_parameters={temperature:0.6,top_p:0.9}' 'gsm8k|0,aime24|0' --output-dir /r")
        .gives(&["dataset aime24", "dataset gsm8k", "evaluation", "lighteval", "target acme/m @r1"]);
    script("lighteval endpoint litellm 'model_name=served,base_url=http://acme/v1' gsm8k").gives(&[
        "dataset gsm8k",
        "evaluation",
        "lighteval",
        "target served",
    ]);
}

#[test]
fn a_provider_in_front_of_a_name_is_no_owner() {
    let read = script("inspect eval tasks/acme.py --model openai/gpt-4o");
    read.gives(&["dataset tasks/acme.py", "evaluation", "inspect-ai", "target openai/gpt-4o"]);
    assert_eq!(read.inventory.models[0].reference.form(), "name");
    script("inspect eval acme --model hf/acme/m --model-role grader=openai/gpt-4o").gives(&[
        "dataset acme",
        "evaluation",
        "inspect-ai",
        "judge openai/gpt-4o",
        "target acme/m",
    ]);
    let read = script("garak --target_type nim --target_name meta/llama --probes dan");
    read.gives(&["evaluation", "garak", "target meta/llama"]);
    assert_eq!(read.inventory.models[0].reference.form(), "name");
    let read = script("python -m garak --target_type huggingface --target_name acme/m");
    assert_eq!(read.inventory.models[0].reference.form(), "hub");
}

#[test]
fn the_package_manager_helm_is_no_evaluation() {
    script("helm install acme ./chart --set model=acme/m").gives(&[]);
    script("helm-run --run-entries mmlu:subject=anatomy,model=openai/gpt2 --suite s").gives(&[
        "evaluation",
        "helm-benchmark",
        "target openai/gpt2",
    ]);
}

#[test]
fn the_one_that_grades_is_a_judge() {
    script("python -m fastchat.llm_judge.gen_judgment --model-list acme-a acme-b --judge-model gpt-4").gives(&[
        "evaluation",
        "judge gpt-4",
        "mt-bench",
    ]);
    script("python gen_model_answer.py --model-path acme/m --model-id acme-label").gives(&[
        "evaluation",
        "mt-bench",
        "target acme/m as acme-label",
    ]);
}

// Benchmarks.

#[test]
fn a_client_calls_what_an_offline_benchmark_loads() {
    let serve = "{image: 'vllm/vllm-openai:v0.10.1', command: [vllm, bench, serve, --model, acme/m, --base-url, 'http://a:8000', --dataset-name, sharegpt, --dataset-path, /d/s.json, --tokenizer, acme/tok]}";
    container(serve).gives(&["benchmark", "dataset /d/s.json", "target acme/m", "tokenizer acme/tok"]);
    container("{image: 'vllm/vllm-openai:v0.10.1', command: [vllm, bench, throughput, --model, acme/m, --input-len, '32']}").gives(&[
        "benchmark",
        "target acme/m",
        "vllm",
    ]);
    script("python3 -m sglang.bench_serving --backend sglang --base-url http://a:1 --dataset-name random --model acme/m")
        .gives(&["benchmark", "target acme/m"]);
    script("python3 -m sglang.bench_one_batch --model-path acme/m").gives(&["benchmark", "sglang", "target acme/m"]);
    script("trtllm-bench --model acme/m throughput --dataset /d/x").gives(&["benchmark", "dataset /d/x", "target acme/m", "tensorrt-llm"]);
    script("llama-bench -m /m/acme.gguf").gives(&["benchmark", "llama.cpp", "target /m/acme.gguf"]);
}

#[test]
fn made_up_load_is_no_dataset() {
    script("vllm bench serve --model acme/m --dataset-name random --random-input-len 512").gives(&["benchmark", "target acme/m"]);
    script("vllm bench serve --model acme/m --dataset-name hf --dataset-path acme/d --hf-split train").gives(&[
        "benchmark",
        "dataset acme/d",
        "target acme/m",
    ]);
    script("guidellm benchmark --target http://a --model acme/m --data prompt_tokens=512,output_tokens=128")
        .gives(&["benchmark", "target acme/m"]);
}

#[test]
fn the_tokenizer_of_a_client_is_not_its_target() {
    script("genai-perf profile -m served -u http://a:8000 --endpoint-type chat --tokenizer acme/tok --artifact-dir /r -- -v").gives(&[
        "benchmark",
        "target served",
        "tokenizer acme/tok",
    ]);
    script("guidellm run --backend kind=openai_http,target=http://a,model=acme/m --tokenizer kind=huggingface_auto,model=acme/tok --data kind=huggingface,source=acme/d")
        .gives(&["benchmark", "dataset acme/d", "target acme/m", "tokenizer acme/tok"]);
    script("genai-bench benchmark --api-backend openai --api-model-name acme/m --model-tokenizer /t").gives(&[
        "benchmark",
        "target acme/m",
        "tokenizer /t",
    ]);
}

#[test]
fn a_client_that_checks_answers_evaluates() {
    script("aiperf profile --model acme/m --url http://a --accuracy-benchmark gpqa_diamond --extra-inputs a:b").gives(&[
        "dataset gpqa_diamond",
        "evaluation",
        "target acme/m",
    ]);
    script("aiperf profile -m acme/a,acme/b -u http://a --streaming").gives(&["benchmark", "target acme/a", "target acme/b"]);
}

// Downloads and conversions.

#[test]
fn a_download_of_data_is_no_model() {
    script("hf download acme/d --repo-type dataset --local-dir /d").gives(&["data-preparation", "dataset acme/d"]);
    script("huggingface-cli download acme/m --revision r1 --local-dir /m").gives(&["data-preparation", "main acme/m @r1"]);
    script("hf upload acme/made /m && hf auth login").gives(&["data-preparation"]);
    script("git lfs install; git clone https://user:x@huggingface.co/datasets/acme/d /d").gives(&["data-preparation", "dataset acme/d"]);
    script("git clone --depth 1 https://github.com/acme/code").gives(&[]);
}

#[test]
fn calls_in_code_are_read_like_programs() {
    container("{image: 'python:3.12', command: [python, -c, 'from huggingface_hub import snapshot_download; snapshot_download(\"acme/m\", revision=\"r1\", local_dir=\"/m\")']}")
        .gives(&["data-preparation", "main acme/m @r1"]);
    script("python3 - <<'PY'\nimport os\nfrom huggingface_hub import snapshot_download\nrepo = os.environ.get('REPO', 'acme/fallback')\nfor name in ['acme/a', 'acme/b']:\n    snapshot_download(repo_id=name)\nsnapshot_download(repo_id=repo, repo_type='dataset')\nPY")
        .gives(&["data-preparation", "dataset acme/fallback", "main acme/a", "main acme/b"]);
    script_with(&[("REPO", "acme/m")], "python3 - <<'PY'\nimport os\nfrom huggingface_hub import snapshot_download\ndef get(repo):\n    snapshot_download(repo)\nget(os.environ['REPO'])\nPY")
        .gives(&["data-preparation", "main acme/m"]);
    // A tokenizer is no model, and a function that nobody calls does nothing.
    script("python3 - <<'PY'\nfrom transformers import AutoTokenizer\nAutoTokenizer.from_pretrained('acme/tok')\ndef unused():\n    snapshot_download('acme/never')\nPY")
        .gives(&["data-preparation", "tokenizer acme/tok"]);
    script("python3 -c \"from modelscope import snapshot_download; snapshot_download('acme/m')\"")
        .gives(&["data-preparation", "main acme/m"]);
    script("python3 -c \"from huggingface_hub import snapshot_download; snapshot_download(f'acme/{NAME}')\"")
        .gives(&["data-preparation", "unresolved model undefined-variable NAME"]);
}

#[test]
fn code_that_trains_is_a_training() {
    script("python3 - <<'PY'\nfrom datasets import load_dataset\nfrom trl import SFTTrainer, SFTConfig\ntrain = load_dataset('acme/d', 'en', split='train')\ntrainer = SFTTrainer(model='acme/m', train_dataset=train, args=SFTConfig(output_dir='/out'))\ntrainer.train()\nPY")
        .gives(&["base acme/m", "dataset acme/d", "fine-tuning", "trl"]);
    script("python3 - <<'PY'\nfrom vllm import LLM\nllm = LLM(model='acme/m')\nPY").gives(&["inference", "main acme/m", "vllm"]);
}

#[test]
fn a_line_of_curl_is_a_download_only_with_weights() {
    script("curl -L -o /m/x.gguf https://huggingface.co/acme/m-GGUF/resolve/main/x.Q4_K_M.gguf").gives(&[
        "data-preparation",
        "from https://huggingface.co/acme/m-GGUF/resolve/main/x.Q4_K_M.gguf",
        "main acme/m-GGUF @main",
    ]);
    script("wget -q -P /m https://example.com/acme/x.safetensors")
        .gives(&["data-preparation", "main https://example.com/acme/x.safetensors"]);
    script("curl -s http://acme:8000/v1/models\ncurl -fsSL https://example.com/install.sh").gives(&[]);
    script("wget https://huggingface.co/datasets/acme/d/resolve/main/train.jsonl").gives(&["data-preparation", "dataset acme/d"]);
}

#[test]
fn what_a_conversion_makes_is_where_it_goes() {
    script("python convert_hf_to_gguf.py /m/acme --outfile /out/acme.gguf --outtype q8_0").gives(&["data-preparation", "main /m/acme"]);
    script("llama-quantize /m/in.gguf /m/out.gguf Q4_K_M").gives(&["data-preparation", "main /m/in.gguf"]);
    script("python hf_ptq.py --pyt_ckpt_path acme/m --qformat nvfp4 --export_path /out --dataset cnn_dailymail")
        .gives(&["data-preparation", "main acme/m"]);
    script("optimum-cli export openvino --model acme/m --task text-generation --weight-format int8 /out")
        .gives(&["data-preparation", "main acme/m"]);
    script("python3 -m verl.model_merger merge --backend fsdp --local_dir /ckpt --target_dir /out")
        .gives(&["data-preparation", "main /ckpt"]);
}

#[test]
fn a_server_image_that_fills_a_cache_does_not_serve() {
    container("{image: 'nvcr.io/nim/acme/m:1.0.0', command: [download-to-cache, --profile, abc]}")
        .gives(&["data-preparation", "main acme/m"]);
    container("{image: 'nvcr.io/nim/acme/m:1.0.0', args: [nim_download_to_cache]}").gives(&["data-preparation", "main acme/m"]);
    container("{image: 'example.com/acme/aim:1', args: [download-to-cache, --model-id, 'hf://acme/m']}").gives(&[
        "data-preparation",
        "from hf://acme/m",
        "main acme/m",
    ]);
}

#[test]
fn names_of_catalogues_are_no_repositories() {
    let read = script("kaggle models instances versions download google/gemma/pax/2b-it/2 --untar -p /m");
    read.gives(&["data-preparation", "main google/gemma/pax/2b-it/2"]);
    assert_eq!(read.inventory.models[0].reference.form(), "name");
    let read = script("ngc registry model download-version acme/team/m:1.0 --dest /m");
    read.gives(&["data-preparation", "main acme/team/m:1.0"]);
    assert_eq!(read.inventory.models[0].reference.form(), "name");
}
