use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::options::{Destination, is_dash};

/// Reads `--out`: `-` is standard output; a name that ends in `.part` is kept for files that still grow.
pub(super) fn destination(out: PathBuf) -> Result<Destination> {
    if is_dash(&out) {
        return Ok(Destination::Stdout);
    }
    check_output("--out", &out)?;
    Ok(Destination::File(out))
}

/// Checks the name of a file to be written.
pub(super) fn check_output(flag: &str, path: &Path) -> Result<()> {
    if is_dash(path) {
        return Err(Error::usage(format!("{flag} needs the name of a file.")).hint("Name a file."));
    }
    if path.file_name().is_none() {
        return Err(
            Error::usage(format!("{flag} {} does not name a file.", path.display())).hint("Name a file.")
        );
    }
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("part")) {
        return Err(Error::usage(format!(
            "{flag} {} ends in .part, which marks files that are not whole.",
            path.display()
        ))
        .hint("Choose a name without .part."));
    }
    Ok(())
}

/// Refuses a device, a pipe or a folder: the finished file is renamed into place and would stand there instead.
/// Its folder must be there, or hours of work would end without a place for the result.
fn check_replaceable(flag: &str, path: &Path) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if folder.is_some_and(|folder| !folder.is_dir()) {
        return Err(Error::usage(format!("The folder of {flag} {} does not exist.", path.display()))
            .hint("Make the folder, or choose another name."));
    }
    match path.metadata() {
        Ok(there) if !there.is_file() => {
            Err(Error::usage(format!("{flag} {} is no file and would be replaced by one.", path.display()))
                .hint("Choose another name; an archive goes to standard output with --out -."))
        }
        _ => Ok(()),
    }
}

/// Checks `--manifest` of a verb that writes an archive: it is for standard output alone.
pub(super) fn manifest_of_output(manifest: Option<PathBuf>, out: &Destination) -> Result<Option<PathBuf>> {
    if let Some(manifest) = &manifest {
        check_output("--manifest", manifest)?;
        if let Destination::File(out) = out {
            return Err(Error::usage("--manifest is for --out - alone.").hint(format!(
                "Leave it out: the manifest will be {:?}.",
                format!("{}.manifest.json", out.display())
            )));
        }
    }
    Ok(manifest)
}

/// Checks that every output can be put in place, and that no two outputs, and no output and input, are one file.
pub(super) fn check_distinct(outputs: &[(&str, Option<&Path>)], inputs: &[(&str, &Path)]) -> Result<()> {
    let outputs: Vec<(&str, &Path)> =
        outputs.iter().filter_map(|(flag, path)| path.map(|path| (*flag, path))).collect();
    for (index, (flag, path)) in outputs.iter().enumerate() {
        check_replaceable(flag, path)?;
        let earlier = outputs.iter().take(index);
        let clash = earlier.chain(inputs).find(|(_, other)| !is_dash(other) && place(other) == place(path));
        if let Some((other, _)) = clash {
            return Err(Error::usage(format!("{flag} and {other} are the same file {}.", path.display()))
                .hint("Choose different names."));
        }
    }
    Ok(())
}

/// Where a path leads, as far as it exists: two spellings of one file are one place.
fn place(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if let Ok(real) = absolute.canonicalize() {
        return real;
    }
    match (absolute.parent().map(Path::canonicalize), absolute.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        _ => absolute,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn a_dash_is_standard_output_and_a_part_file_is_refused() {
        assert_eq!(destination("-".into()).unwrap(), Destination::Stdout);
        assert_eq!(destination("a.ndjson.zst".into()).unwrap(), Destination::File("a.ndjson.zst".into()));
        for path in ["a.ndjson.part", "a.PART", "..", "/", ""] {
            assert_eq!(destination(path.into()).unwrap_err().kind(), ErrorKind::Usage, "{path}");
        }
    }

    #[test]
    fn one_file_under_two_spellings_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let (plain, dotted) = (folder.path().join("a"), folder.path().join(".").join("a"));
        let outputs = [("--out", Some(plain.as_path())), ("--preview", None)];
        assert!(check_distinct(&outputs, &[("ARCHIVE", Path::new("-"))]).is_ok());
        let error = check_distinct(&outputs, &[("ARCHIVE", &dotted)]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        let error = check_distinct(&[outputs[0], ("--result", Some(&dotted))], &[]).unwrap_err();
        assert!(error.to_string().contains("--result and --out"), "{error}");
    }

    #[test]
    fn a_device_is_not_replaced() {
        let error = check_distinct(&[("--out", Some(Path::new("/dev/null")))], &[]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
    }

    #[test]
    fn the_folder_of_an_output_must_be_there() {
        let folder = tempfile::tempdir().unwrap();
        let (there, missing) = (folder.path().join("a"), folder.path().join("no/a"));
        assert!(check_distinct(&[("--result", Some(&there))], &[]).is_ok());
        let error = check_distinct(&[("--result", Some(&missing))], &[]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
    }

    #[test]
    fn a_manifest_beside_a_file_is_not_renamed() {
        assert!(manifest_of_output(Some("m.json".into()), &Destination::Stdout).is_ok());
        assert!(manifest_of_output(None, &Destination::File("a".into())).is_ok());
        assert!(manifest_of_output(Some("m.json".into()), &Destination::File("a".into())).is_err());
    }
}
