//! A ConfigMap with the settings and the sizer, and a patch that gives them to a container.

use super::{MOUNTED, Unwritable, comment, preamble, yaml_string};
use crate::emit::Deployment;

pub(super) fn text(deployment: &Deployment) -> Result<String, Unwritable> {
    let how = "For Kubernetes: kubectl apply -f the first document; the second is a patch of your \
               Deployment (kubectl patch deployment NAME --patch-file). The flags go behind the \
               container's command: sh -c 'python -m sglang.launch_server $CHUNKTUNE_SGLANG_ARGS \
               ...'";
    let name = format!(
        "chunktune-{}",
        if deployment.arch.is_empty() { "sizer" } else { &deployment.arch }
    );
    let mut out = preamble(deployment, how);
    out.push_str("apiVersion: v1\nkind: ConfigMap\nmetadata:\n");
    out.push_str(&format!("  name: {name}\n  annotations:\n"));
    out.push_str(&format!(
        "    chunktune/profile-sha256: {}\n",
        yaml_string(&deployment.profile_sha256)
    ));
    out.push_str(&format!("    chunktune/status: {}\n", deployment.status.name()));
    out.push_str("data:\n");
    let settings = deployment.env();
    for setting in &settings {
        let mounted = setting.name == "CHUNKTUNE_SIZER";
        let value = if mounted { MOUNTED } else { &setting.value };
        for line in comment(&setting.reason).lines() {
            out.push_str(&format!("  {line}\n"));
        }
        out.push_str(&format!("  {}: {}\n", setting.name, yaml_string(value)));
    }
    out.push_str(&format!("  sizer.json: {}\n", yaml_string(&deployment.sizer)));
    out.push_str("---\nspec:\n  template:\n    spec:\n      containers:\n        - name: sglang\n");
    out.push_str("          env:\n");
    for setting in &settings {
        out.push_str(&format!("            - name: {}\n", setting.name));
        out.push_str("              valueFrom:\n                configMapKeyRef:\n");
        out.push_str(&format!("                  name: {name}\n"));
        out.push_str(&format!("                  key: {}\n", setting.name));
    }
    out.push_str("          volumeMounts:\n            - name: chunktune\n");
    out.push_str(&format!("              mountPath: {MOUNTED}\n"));
    out.push_str("              subPath: sizer.json\n              readOnly: true\n");
    out.push_str("      volumes:\n        - name: chunktune\n          configMap:\n");
    out.push_str(&format!("            name: {name}\n"));
    Ok(out)
}
