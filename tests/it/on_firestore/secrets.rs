//! What a file of Google credentials holds is nowhere.

use super::server::{emulator, fresh_project, scene_in};
use crate::secrets::Watch;

#[test]
fn nothing_of_a_credentials_file_is_said_or_written() {
    const KEY: &str = "M4rkOfThePrivateKey";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("credentials.json");
    let write = |kind: &str| {
        let pem = format!("-----BEGIN PRIVATE KEY-----\\n{KEY}\\n-----END PRIVATE KEY-----\\n");
        let text = format!(
            r#"{{"type":"{kind}","project_id":"p","client_email":"ops@p.iam.gserviceaccount.com","private_key_id":"{KEY}","private_key":"{pem}","client_id":"x","client_secret":"{KEY}","refresh_token":"{KEY}","token_uri":"http://127.0.0.1:1/token"}}"#
        );
        std::fs::write(&file, text).unwrap();
    };
    write("service_account");
    let scene = scene_in(&format!("firestore://{}", fresh_project()), &emulator(), "c");
    let named = vec![("GOOGLE_APPLICATION_CREDENTIALS", file.display().to_string())];
    let mut watch = Watch::new(&scene, named.clone(), &[KEY]);
    watch.road(&scene.address("shop.db"));
    let without_emulator = [named, vec![("FIRESTORE_EMULATOR_HOST", String::new())]].concat();
    for kind in ["service_account", "nonsense"] {
        write(kind);
        Watch::new(&scene, without_emulator.clone(), &[KEY]).nowhere("firestore://p", &[2, 4]);
    }
}
