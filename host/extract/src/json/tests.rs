use super::*;

#[test]
fn a_path_leads_to_texts() {
    for (json, path, want) in [
        (r#"{"a":{"b":"x"}}"#, "a.b", &["x"][..]),
        (r#"{"name":"x"}"#, "model|name", &["x"]),
        (r#"{"name":"x","model":"y"}"#, "model|name", &["y"]),
        (r#"{"audio":"/a","vision":"/v"}"#, "*", &["/a", "/v"]),
        (r#"["x","y"]"#, "[]", &["x", "y"]),
        (r#"[{"url":"x"},{"id":"y"},"z",7]"#, "[].url|id", &["x", "y", "z"]),
        (r#"[{"name":"a","value":"1"},{"name":"b","value":"2"}]"#, "[name=b].value", &["2"]),
        (r#"{"list":[{"c":"x"}]}"#, "list[].c", &["x"]),
        (r#"{"a":7}"#, "a", &[]),
        ("no json", "a", &[]),
        ("[]", "a.b", &[]),
    ] {
        assert_eq!(texts(json, path), want, "{json} {path}");
    }
}
