//! References to secrets in texts: `${env:NAME}` is a variable of the environment, `${file:PATH}`
//! the content of a file without the line end after it. `$${` stands for `${`.

use std::fs;
use std::path::{Path, PathBuf};

use argiope_explore::quoted::Quoted;

/// The longest secret, in bytes.
const LONGEST: usize = 64 << 10;

/// A text with references in it.
#[derive(Debug, PartialEq, Eq)]
pub struct References(Vec<TextPiece>);

#[derive(Debug, PartialEq, Eq)]
enum TextPiece {
    Text(String),
    Variable(String),
    File(PathBuf),
}

impl References {
    /// Reads the references of a text. A sentence says what is wrong, without the text.
    pub fn in_text(text: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            if rest[..at].ends_with('$') {
                plain.push_str(&rest[..at - 1]);
                plain.push_str("${");
                rest = &rest[at + 2..];
                continue;
            }
            plain.push_str(&rest[..at]);
            let (name, after) =
                rest[at + 2..].split_once('}').ok_or("a reference has no closing brace")?;
            let reference = match name.split_once(':') {
                Some(("env", name)) if !name.is_empty() && !name.contains(['=', '\0']) => {
                    TextPiece::Variable(name.to_owned())
                }
                Some(("file", path)) if !path.is_empty() => TextPiece::File(path.into()),
                _ => {
                    return Err(format!(
                        "{} is no reference: write ${{env:NAME}} or ${{file:PATH}}, and $${{ for \
                         the characters themselves",
                        Quoted(&format!("${{{name}}}"))
                    ));
                }
            };
            if !plain.is_empty() {
                pieces.push(TextPiece::Text(std::mem::take(&mut plain)));
            }
            pieces.push(reference);
            rest = after;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(TextPiece::Text(plain));
        }
        Ok(Self(pieces))
    }

    /// Whether the text has no reference.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|piece| matches!(piece, TextPiece::Text(_)))
    }

    /// The same text with the paths of files made absolute.
    pub fn with_paths_under(&self, base: &Path) -> String {
        let piece = |piece: &TextPiece| match piece {
            TextPiece::Text(text) => text.replace("${", "$${"),
            TextPiece::Variable(name) => format!("${{env:{name}}}"),
            TextPiece::File(path) => format!("${{file:{}}}", base.join(path).display()),
        };
        self.0.iter().map(piece).collect()
    }

    /// The text with what the references name. Files are searched under `base`.
    pub fn read(&self, base: &Path) -> Result<String, String> {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                TextPiece::Text(plain) => text.push_str(plain),
                TextPiece::Variable(name) => {
                    let value = std::env::var(name).map_err(|_| {
                        format!("the environment has no variable {name}, or it is not UTF-8 text")
                    })?;
                    text.push_str(&value);
                }
                TextPiece::File(path) => {
                    let path = base.join(path);
                    let cannot = |why: &dyn std::fmt::Display| {
                        format!("cannot read {}: {why}", path.display())
                    };
                    let bytes = fs::read(&path).map_err(|error| cannot(&error))?;
                    if bytes.len() > LONGEST {
                        return Err(cannot(&"it is larger than 64 KB"));
                    }
                    let value =
                        String::from_utf8(bytes).map_err(|_| cannot(&"it is not UTF-8 text"))?;
                    let value = value.strip_suffix('\n').unwrap_or(&value);
                    text.push_str(value.strip_suffix('\r').unwrap_or(value));
                }
            }
        }
        Ok(text)
    }
}

/// A text without references, as it is meant.
pub fn unescaped(text: &str) -> String {
    text.replace("$${", "${")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_with_what_it_refers_to() {
        let path = std::env::var("PATH").unwrap();
        let read = |text: &str| References::in_text(text).and_then(|it| it.read(Path::new("/")));
        assert_eq!(read("a ${env:PATH} b"), Ok(format!("a {path} b")));
        assert_eq!(read("$5 and $${env:PATH}"), Ok("$5 and ${env:PATH}".to_owned()));
        assert!(read("${env:NO_SUCH_NAME}").unwrap_err().contains("no variable NO_SUCH_NAME"));
        assert!(read("${file:no/such}").unwrap_err().contains("cannot read /no/such"));
        for bad in ["${env:}", "${file:}", "${NAME}", "${env:A=B}", "${env:PATH"] {
            assert!(References::in_text(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn paths_become_absolute_and_the_text_stays_the_same() {
        let text = "$${ ${env:A} ${file:b/c} ${file:/d}";
        let stored = References::in_text(text).unwrap().with_paths_under(Path::new("/x"));
        assert_eq!(stored, "$${ ${env:A} ${file:/x/b/c} ${file:/d}");
        assert!(References::in_text("$${").unwrap().is_empty());
        assert_eq!(unescaped("$${"), "${");
    }
}
