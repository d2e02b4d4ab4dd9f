//! Trainers, evaluations and downloads beyond the common ones.

use crate::support::{container, script, script_with};

#[test]
fn wrappers_in_front_of_a_program_are_taken_off_in_a_row() {
    script("tini -- numactl -N 0 stdbuf -oL time timeout 99 lm_eval --model_args pretrained=acme/m").gives(&[
        "evaluation",
        "lm-eval",
        "target acme/m",
    ]);
    script("nsys profile -o /x lm_eval --model_args pretrained=acme/m").gives(&["evaluation", "lm-eval", "target acme/m"]);
    script("A=b C=d lm_eval --model_args pretrained=acme/m").gives(&["evaluation", "lm-eval", "target acme/m"]);
}

#[test]
fn one_script_holds_several_programs() {
    script("hf download acme/m --local-dir /m && torchrun train.py --model_name_or_path /m && hf upload acme/made /out").gives(&[
        "fine-tuning",
        "pytorch",
        "base acme/m",
        "from /m",
    ]);
    script("vllm serve acme/m & sleep 9; vllm bench serve --model acme/m --base-url http://localhost:8000").gives(&[
        "inference",
        "vllm",
        "main acme/m",
    ]);
    script("train() { python run_clm.py --model_name_or_path acme/never; }\necho done").gives(&[]);
}

#[test]
fn what_somebody_has_yet_to_fill_in_is_no_model() {
    script("lm_eval --model_args pretrained=YOUR_MODEL_NAME").gives(&["evaluation", "lm-eval", "unresolved model template"]);
    script("python run_clm.py --model_name_or_path replaced-by-kustomize").gives(&[
        "fine-tuning",
        "transformers",
        "unresolved model template",
    ]);
    script("python run_clm.py --model_name_or_path CHANGEME").gives(&["fine-tuning", "transformers", "unresolved model template"]);
    script(r#"python run_clm.py --model_name_or_path "{{ .Values.model }}""#).gives(&[
        "fine-tuning",
        "transformers",
        "unresolved model template",
    ]);
    script("python run_clm.py --model_name_or_path ${trialParameters.model}").gives(&[
        "fine-tuning",
        "transformers",
        "unresolved model undefined-variable",
    ]);
}

#[test]
fn a_folder_of_the_hubs_cache_names_repository_and_commit() {
    script("aiperf profile -m served -u http://a --tokenizer /cache/models--acme--m/snapshots/0123456789abcdef0123456789abcdef01234567")
        .gives(&[
            "benchmark",
            "target served",
            "tokenizer acme/m @0123456789abcdef0123456789abcdef01234567",
            "from /cache/models--acme--m/snapshots/0123456789abcdef0123456789abcdef01234567",
        ]);
    script("python run_clm.py --model_name_or_path /cache/models--acme--m/snapshots/0123456789abcdef0123456789abcdef01234567").gives(&[
        "fine-tuning",
        "transformers",
        "base acme/m @0123456789abcdef0123456789abcdef01234567",
        "from /cache/models--acme--m/snapshots/0123456789abcdef0123456789abcdef01234567",
    ]);
    script("hf download hf://acme/m@r1/x.gguf").gives(&["data-preparation", "main acme/m @r1", "from hf://acme/m@r1/x.gguf"]);
}

#[test]
fn variables_and_files_of_launchers_have_no_model() {
    script_with(
        &[("PET_NNODES", "2"), ("PET_NPROC_PER_NODE", "8"), ("MASTER_ADDR", "a"), ("WORLD_SIZE", "2")],
        "torchrun run_clm.py --model_name_or_path acme/m",
    )
    .gives(&["fine-tuning", "pytorch", "transformers", "base acme/m"]);
    script("python -m torch.distributed.launch --use_env --nproc_per_node 2 run_clm.py --model_name_or_path acme/m").gives(&[
        "fine-tuning",
        "pytorch",
        "transformers",
        "base acme/m",
    ]);
    script("accelerate launch --config_file /c.yaml -m lm_eval --model_args pretrained=acme/m").gives(&[
        "evaluation",
        "accelerate",
        "lm-eval",
        "target acme/m",
    ]);
    script("horovodrun -np 2 -H a:1 python run_clm.py --model_name_or_path acme/m").gives(&["fine-tuning", "transformers", "base acme/m"]);
    script("/usr/sbin/sshd -De -f /x").gives(&[]);
}

#[test]
fn one_variable_is_data_in_one_initializer_and_the_model_in_the_other() {
    container("{image: 'ghcr.io/kubeflow/trainer/model-initializer', env: [{name: STORAGE_URI, value: 'hf://acme/m'}]}").gives(&[
        "data-preparation",
        "main acme/m",
        "from hf://acme/m",
    ]);
    container("{image: 'ghcr.io/kubeflow/trainer/dataset-initializer', env: [{name: STORAGE_URI, value: 'hf://acme/d'}]}")
        .gives(&["data-preparation", "dataset acme/d"]);
    container("{image: 'ghcr.io/kubeflow/trainer/dataset-initializer', env: [{name: STORAGE_URI, value: 'cache://schema/table'}]}")
        .gives(&["data-preparation", "dataset cache://schema/table"]);
    container(r#"{image: 'kubeflow/storage-initializer', args: [--model_provider, hf, --model_provider_parameters, '{"model_uri":"hf://acme/m"}', --dataset_provider, hf, --dataset_provider_parameters, '{"repo_id":"acme/d"}']}"#).gives(&["data-preparation", "main acme/m", "from hf://acme/m", "dataset acme/d"]);
    container("{image: 'ghcr.io/kubeflow/trainer/trainer-controller-manager:v2'}").gives(&[]);
}

#[test]
fn demonstrations_and_tests_of_the_machine_are_no_ai() {
    container("{image: 'kubeflow/pytorch-elastic-example-imagenet:1'}").gives(&[]);
    container("{image: 'kubeflowkatib/tf-mnist-with-summaries:v0.17'}").gives(&[]);
    container("{image: 'mpioperator/mpi-pi:openmpi', command: [mpirun, -n, '2', /home/mpiuser/pi]}").gives(&[]);
    script("python -c 'import jax; print(jax.device_count())'").gives(&[]);
    script("neuron_parallel_compile torchrun run_clm.py --model_name_or_path acme/m").gives(&[]);
}

#[test]
fn parts_of_a_picture_model_are_parts() {
    script("python train_text_to_image_lora.py --pretrained_model_name_or_path acme/sd --pretrained_vae_model_name_or_path acme/vae --dataset_name acme/d --validation_prompt 'x y' --hub_model_id acme/out").gives(&["fine-tuning", "diffusers", "base acme/sd", "base acme/vae", "dataset acme/d"]);
    script(
        "python train_controlnet.py --pretrained_model_name_or_path acme/sd --controlnet_model_name_or_path acme/cn --train_data_dir /d",
    )
    .gives(&["fine-tuning", "diffusers", "base acme/cn", "base acme/sd", "dataset /d"]);
}

#[test]
fn a_trainer_with_a_file_of_settings_alone_leaves_the_model_open() {
    script("trl sft --config /c.yaml --accelerate_config zero3").gives(&["fine-tuning", "trl", "unresolved model config-file /c.yaml"]);
    script("swift sft /c.yaml").gives(&["fine-tuning", "ms-swift", "unresolved model config-file /c.yaml"]);
    script("automodel kd llm -c c.yaml").gives(&["fine-tuning", "nemo-automodel", "unresolved model config-file c.yaml"]);
    script("uv run rl @ c.toml").gives(&["fine-tuning", "prime-rl", "unresolved model config-file c.toml"]);
    script("composer train/train.py c.yaml model.name=mpt_causal_lm").gives(&[
        "training",
        "composer",
        "unresolved model config-file c.yaml",
    ]);
    script_with(&[("SFT_TRAINER_CONFIG_JSON_PATH", "/c.json")], "python -m tuning.sft_trainer").gives(&[
        "fine-tuning",
        "fms-hf-tuning",
        "unresolved model config-file /c.json",
    ]);
    script("lighteval accelerate /cfg.yaml gsm8k").gives(&[
        "evaluation",
        "lighteval",
        "dataset gsm8k",
        "unresolved model config-file /cfg.yaml",
    ]);
}

#[test]
fn helpers_of_trainers_are_no_trainings() {
    script("trl env").gives(&[]);
    script("axolotl fetch examples").gives(&[]);
    script("axolotl merge-lora /cfg.yml --lora-model-dir /l").gives(&["data-preparation", "adapter /l"]);
    script("axolotl evaluate /cfg.yml").gives(&["evaluation", "axolotl", "unresolved model config-file /cfg.yml"]);
    script("axolotl vllm-serve /cfg.yml").gives(&["inference", "axolotl", "vllm", "unresolved model config-file /cfg.yml"]);
    script("llamafactory-cli export --model_name_or_path acme/m --adapter_name_or_path /l --export_dir /o").gives(&[
        "data-preparation",
        "main acme/m",
        "adapter /l",
    ]);
    script("llamafactory-cli train --do_predict --model_name_or_path acme/m --eval_dataset a").gives(&[
        "evaluation",
        "llama-factory",
        "target acme/m",
        "dataset a",
    ]);
    script("python -m openrlhf.cli.lora_combiner --model_path acme/m --lora_path /l --output_path /o").gives(&[
        "data-preparation",
        "main acme/m",
        "adapter /l",
    ]);
    script("litgpt merge_lora /o").gives(&["data-preparation", "main /o"]);
    script("nemo llm import --model llama3 source=hf://acme/m").gives(&["data-preparation", "main acme/m", "from hf://acme/m"]);
    script("python inference/convert_composer_to_hf.py --composer_path /c --hf_output_path /o").gives(&["data-preparation", "main /c"]);
    script("yolo export model=yolo11n.pt format=onnx").gives(&["data-preparation", "main yolo11n.pt"]);
    script("python -m mlx_lm convert --hf-path acme/m -q").gives(&["data-preparation", "main acme/m"]);
}

#[test]
fn an_image_that_starts_a_desk_trains_nothing_by_itself() {
    container("{image: 'axolotlai/axolotl-cloud:main-latest'}").gives(&["fine-tuning"]);
    container("{image: 'unsloth/unsloth:latest'}").gives(&["fine-tuning"]);
    container("{image: 'axolotlai/axolotl-cloud:main-latest', command: [axolotl, train, /c.yml, --base-model=acme/m]}").gives(&[
        "fine-tuning",
        "axolotl",
        "base acme/m",
    ]);
}

#[test]
fn names_of_recipes_formats_and_served_models_mean_nothing() {
    script_with(&[("API_MODEL_NAME", "gpt-x")], "llamafactory-cli api --model_name_or_path acme/m").gives(&[
        "inference",
        "llama-factory",
        "main acme/m",
    ]);
    script("llamafactory-cli train --stage ppo --model_name_or_path acme/m --reward_model http://a:1 --reward_model_type api").gives(&[
        "fine-tuning",
        "llama-factory",
        "base acme/m",
    ]);
    script("tune run full_finetune_single_device --config llama3_2/1B_full").gives(&[
        "fine-tuning",
        "torchtune",
        "unresolved model config-file llama3_2/1B_full",
    ]);
    script("litgpt finetune_lora acme/m --data JSON --data.json_path /d.json --out_dir /o").gives(&[
        "fine-tuning",
        "litgpt",
        "base acme/m",
        "dataset /d.json",
    ]);
    script("litgpt pretrain acme-14m --data TextFiles --data.train_data_path /d").gives(&["training", "litgpt", "dataset /d"]);
    script("nemo llm finetune --factory llama31_8b -y peft=lora").gives(&["fine-tuning", "nemo"]);
    script("torchrun train.py --job.config_file x.toml --model.name llama3 --model.flavor debugmodel").gives(&["training", "pytorch"]);
}

#[test]
fn readers_of_flags_in_arrays_and_overrides_find_the_roles() {
    script("MODEL_ARGS=(--num-layers 2 --load /w)\ntorchrun pretrain_gpt.py ${MODEL_ARGS[@]} --save /s").gives(&[
        "fine-tuning",
        "megatron",
        "pytorch",
        "base /w",
    ]);
    script("python /opt/NeMo/examples/nlp/language_modeling/megatron_gpt_pretraining.py model.data.data_prefix=[1.0,/d/x] exp_manager.exp_dir=/o").gives(&["training", "nemo", "dataset /d/x"]);
    script("python serve_reward_model.py rm_model_file=/m/rm.nemo").gives(&["inference", "nemo", "main /m/rm.nemo"]);
    script_with(
        &[("M_MODEL_NAME", "llama3.1-8b"), ("M_LOAD_PARAMETERS_PATH", "gs://acme/w")],
        "python3 -m MaxText.train base.yml run_name=r",
    )
    .gives(&["fine-tuning", "maxtext", "base gs://acme/w"]);
    script("python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=acme/m reward.reward_model.enable=True reward.reward_model.model_path=acme/rm algorithm.adv_estimator=gae").gives(&["fine-tuning", "verl", "base acme/m", "judge acme/rm"]);
    // What the trainer has by default is no fact.
    script("python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo").gives(&["fine-tuning", "verl"]);
    script(
        "ray job submit -- python3 train.py --hf-checkpoint /m --ref-load /ref --load /c --save /c --prompt-data /p.jsonl --rm-type math",
    )
    .gives(&["fine-tuning", "slime", "base /m", "base /ref", "dataset /p.jsonl"]);
    script("uv run inference @ c.toml").gives(&["inference", "vllm", "unresolved model config-file c.toml"]);
    script("download_bionemo_data esm2/650m:2.0 --source ngc").gives(&["data-preparation", "main esm2/650m:2.0"]);
    script("swift rlhf --rlhf_type grpo --model acme/m --reward_model acme/rm --teacher_model acme/t --hub_model_id acme/out --model_author me").gives(&["fine-tuning", "ms-swift", "base acme/m", "base acme/t", "judge acme/rm"]);
    script("python gaudi_spawn.py --use_deepspeed --world_size 8 run_clm.py --model_name_or_path acme/m --gaudi_config_name Habana/x")
        .gives(&["fine-tuning", "optimum-habana", "transformers", "base acme/m"]);
    script("python gaudi_spawn.py --world_size 8 run_generation.py --model_name_or_path acme/m").gives(&[
        "inference",
        "optimum-habana",
        "transformers",
        "main acme/m",
    ]);
    script("lightgbm task=predict input_model=/m.txt data=/d.csv").gives(&["inference", "lightgbm-cli", "main /m.txt", "dataset /d.csv"]);
}

#[test]
fn variables_of_the_clouds_hold_folders_and_one_model() {
    script_with(
        &[("SM_MODEL_DIR", "/opt/ml/model"), ("SM_CHANNEL_TRAIN", "/opt/ml/input/data/train"), ("SM_HP_MODEL_NAME_OR_PATH", "acme/m")],
        "python train.py",
    )
    .gives(&["fine-tuning", "base acme/m"]);
    script_with(&[("AIP_MODEL_DIR", "gs://b/m"), ("AIP_TRAINING_DATA_URI", "gs://b/d/*")], "python train.py").gives(&["training"]);
    script_with(&[("WANDB_PROJECT", "acme/p"), ("WANDB_LOG_MODEL", "end"), ("MLFLOW_EXPERIMENT_NAME", "acme/e")], "python train.py")
        .gives(&["training"]);
}

#[test]
fn back_ends_of_an_evaluation_name_the_model_by_keys_of_their_own() {
    script("lm_eval --model local-chat-completions --model_args model=served,base_url=http://a,tokenizer=acme/t --tasks x").gives(&[
        "evaluation",
        "lm-eval",
        "target served",
        "tokenizer acme/t",
        "dataset x",
    ]);
    script("lm_eval --model nemo_lm --model_args path=/m.nemo --tasks x").gives(&["evaluation", "lm-eval", "target /m.nemo", "dataset x"]);
    script("lm_eval --model megatron_lm --model_args load=/c,tokenizer_model=acme/t --tasks x").gives(&[
        "evaluation",
        "lm-eval",
        "target /c",
        "tokenizer acme/t",
        "dataset x",
    ]);
    script("lm_eval --model watsonx_llm --model_args model_id=acme/w --tasks x").gives(&[
        "evaluation",
        "lm-eval",
        "target acme/w",
        "dataset x",
    ]);
    script("lm_eval --model hf --model_args pretrained=acme/m,lora_local_path=/l,gguf_file=x.gguf --tasks x --hf_hub_log_args hub_results_org=acme,push=True").gives(&["evaluation", "lm-eval", "target acme/m", "adapter /l", "dataset x"]);
    script("lm_eval validate --tasks x").gives(&[]);
    script("nemo-evaluator run_eval --run_config /r.yaml --overrides 'target.api_endpoint.model_id=acme/m,config.params.task=x'").gives(&[
        "evaluation",
        "nemo-evaluator",
        "target acme/m",
        "dataset x",
    ]);
    script("nemo-evaluator ls").gives(&[]);
    script("accelerate launch main.py --model acme/m --tasks humaneval").gives(&[
        "evaluation",
        "accelerate",
        "target acme/m",
        "dataset humaneval",
    ]);
    script("opencompass --models hf_llama2_7b --datasets siqa_gen mmlu_ppl").gives(&[
        "evaluation",
        "opencompass",
        "dataset mmlu_ppl",
        "dataset siqa_gen",
    ]);
    script("opencompass --hf-path acme/m --hf-type chat --tokenizer-path acme/t --peft-path acme/l --datasets gsm8k_gen -w /o").gives(&[
        "evaluation",
        "opencompass",
        "target acme/m",
        "adapter acme/l",
        "tokenizer acme/t",
        "dataset gsm8k_gen",
    ]);
    script("lighteval accelerate 'base_model=acme/b,model_name=acme/l' gsm8k").gives(&[
        "evaluation",
        "lighteval",
        "base acme/b",
        "target acme/l",
        "dataset gsm8k",
    ]);
    script("inspect eval t.py --model openai-api/acme/m")
        .gives(&["evaluation", "inspect-ai", "target openai-api/acme/m", "dataset t.py"])
        .forms(&["name"]);
    script("garak --target_type huggingface.InferenceAPI --target_name acme/m")
        .gives(&["evaluation", "garak", "target acme/m"])
        .forms(&["hub"]);
}

#[test]
fn a_judge_is_called_by_variables() {
    script_with(&[("LOCAL_MODEL_NAME", "acme/j"), ("LOCAL_MODEL_BASE_URL", "http://a")], "deepeval test run test_x.py").gives(&[
        "evaluation",
        "deepeval",
        "judge acme/j",
    ]);
    script_with(&[("LOCAL_MODEL_BASE_URL", "http://a")], "python app.py").gives(&[]);
    script("promptfoo eval -c c.yaml --grader openai:gpt-x").gives(&["evaluation", "promptfoo", "judge openai:gpt-x"]);
    script("promptfoo view").gives(&[]);
}

#[test]
fn load_is_made_by_a_tokenizer_and_engines_by_a_model() {
    script("trtllm-bench --model acme/m prepare-dataset --output /o token-norm-dist").gives(&["data-preparation", "tokenizer acme/m"]);
    script("python prepare_dataset.py --tokenizer acme/t").gives(&["data-preparation", "tokenizer acme/t"]);
    script("python tools/preprocess_data.py --input /i.json --output-prefix /o --tokenizer-type X --tokenizer-model acme/t").gives(&[
        "data-preparation",
        "tokenizer acme/t",
        "dataset /i.json",
    ]);
    script("guidellm run --backend kind=vllm_python,model=acme/m --data kind=synthetic_text,prompt_tokens=9").gives(&[
        "benchmark",
        "vllm",
        "target acme/m",
    ]);
    script("guidellm benchmark run --target http://a --model acme/m --processor acme/t --data acme/d").gives(&[
        "benchmark",
        "target acme/m",
        "tokenizer acme/t",
        "dataset acme/d",
    ]);
    script("guidellm preprocess dataset acme/d /o --processor acme/t").gives(&["data-preparation", "tokenizer acme/t"]);
    container(r#"{image: 'ghcr.io/vllm-project/guidellm:latest', env: [{name: GUIDELLM__SPEC__BACKEND, value: '{"kind":"openai_http","target":"http://a","model":"acme/m"}'}]}"#).gives(&["benchmark", "target acme/m"]);
    script("inference-perf -c f.yml --server.model_name=acme/m --tokenizer.pretrained_model_name_or_path=acme/t").gives(&[
        "benchmark",
        "target acme/m",
        "tokenizer acme/t",
    ]);
    script("genai-perf profile -m a,b --service-kind triton --backend tensorrtllm --input-dataset openorca").gives(&[
        "benchmark",
        "target a",
        "target b",
        "dataset openorca",
    ]);
    script(r#"vllm bench latency --model acme/m --speculative-config '{"model":"acme/d"}'"#).gives(&[
        "benchmark",
        "vllm",
        "target acme/m",
        "draft acme/d",
    ]);
    script("aiperf plot x").gives(&[]);
    script("locust -f f.py --host http://a --headless").gives(&[]);
}

#[test]
fn libraries_fetch_models_with_names_of_their_own() {
    script(r#"python3 -c "import whisper; whisper.load_model('large-v3')""#).gives(&["data-preparation", "main large-v3"]).forms(&["name"]);
    script("python3 -m spacy download en_core_web_sm").gives(&["data-preparation", "main en_core_web_sm"]).forms(&["name"]);
    script(r#"python3 -c "from sentence_transformers import SentenceTransformer; SentenceTransformer('acme/e')""#)
        .gives(&["data-preparation", "embedding acme/e"])
        .forms(&["hub"]);
}

#[test]
fn addresses_of_other_catalogues_hold_weights() {
    script("curl -LO https://api.ngc.nvidia.com/v2/models/acme/team/m/versions/1.0/zip")
        .gives(&["data-preparation", "main https://api.ngc.nvidia.com/v2/models/acme/team/m/versions/1.0/zip"]);
    script("curl -L 'https://civitai.com/api/download/models/123' -o /m/x.safetensors")
        .gives(&["data-preparation", "main https://civitai.com/api/download/models/123"]);
    script("git clone https://www.modelscope.cn/acme/m.git /m").gives(&["data-preparation", "main https://www.modelscope.cn/acme/m.git"]);
    script("git clone https://hf-mirror.com/acme/m /m").gives(&["data-preparation", "main acme/m", "from https://hf-mirror.com/acme/m"]);
    script("git clone https://huggingface.co/spaces/acme/s").gives(&[]);
    script("aria2c -x16 https://huggingface.co/acme/m/resolve/main/x.gguf").gives(&[
        "data-preparation",
        "main acme/m @main",
        "from https://huggingface.co/acme/m/resolve/main/x.gguf",
    ]);
    script(r#"curl -X POST http://a:8000/v1/load_lora_adapter -d '{"lora_name":"l","lora_path":"acme/l"}'"#).gives(&[]);
}

#[test]
fn what_a_command_makes_or_logs_in_to_is_no_download() {
    script("hf sync hf://buckets/acme/b /d").gives(&[]);
    script("huggingface-cli login --token hf_abc").gives(&[]);
    script("kaggle datasets download -d acme/d").gives(&["data-preparation", "dataset acme/d"]);
    script("ngc registry resource download-version acme/r:1").gives(&[]);
    script("aws s3 cp /out s3://bucket/models/made --recursive").gives(&[]);
    container("{image: 'nvcr.io/nim/nvidia/llm-nim:2', command: [download-to-cache], env: [{name: NIM_MODEL_NAME, value: 'hf://acme/m'}]}")
        .gives(&["data-preparation", "main acme/m", "from hf://acme/m"]);
    script("python convert_lora_to_gguf.py acme/l --base acme/b --outfile /o.gguf").gives(&["data-preparation", "adapter acme/l"]);
}

#[test]
fn a_pipeline_in_code_runs_the_model_that_it_is_given() {
    let code = |call: &str| script(&format!("python3 - <<'PY'\nfrom transformers import pipeline\npipe = {call}\nprint(pipe('hi'))\nPY"));
    code("pipeline('text-generation', model='acme/heron-1b', revision='r1', device_map='auto')").gives(&[
        "inference",
        "transformers",
        "main acme/heron-1b @r1",
    ]);
    code("pipeline('sentiment-analysis', 'heron-base-uncased')").gives(&["inference", "transformers", "main heron-base-uncased"]);
    code("pipeline(task='fill-mask', model=f'acme/heron')").gives(&["inference", "transformers", "main acme/heron"]);
    // Other libraries have pipelines too.
    script("python3 - <<'PY'\nfrom sklearn_extras import pipeline\npipeline('a/b', model='acme/heron')\nPY").gives(&[]);
}
