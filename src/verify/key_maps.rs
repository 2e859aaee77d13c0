use crate::archive::{KeyMapReader, KeyMapRow};
use crate::{Error, Result};

/// The key maps of several archives, read side by side with their documents.
pub struct KeyMaps {
    readers: Vec<KeyMapReader>,
    current: usize,
    /// Rows of all of them that have been read.
    read: u64,
}

impl KeyMaps {
    /// Begins with the first row of the first.
    pub fn new(readers: Vec<KeyMapReader>) -> Self {
        Self { readers, current: 0, read: 0 }
    }

    /// Hands over the row of the document at a position of the archives, whose key is `shown`. Positions may be left
    /// out, but never go back.
    ///
    /// # Errors
    /// File: the key maps end before their archives do, or are not theirs.
    pub fn row<T>(
        &mut self,
        position: u64,
        shown: &str,
        take: impl FnOnce(&KeyMapRow<'_>) -> Result<T>,
    ) -> Result<T> {
        while let Some(reader) = self.readers.get_mut(self.current) {
            let Some(row) = reader.next()? else {
                self.current += 1;
                continue;
            };
            self.read += 1;
            if self.read <= position {
                continue;
            }
            if row.new != shown {
                return Err(Error::file(format!(
                    "The key map has {:?} where the archive has {shown:?}",
                    row.new
                ))
                .hint("Fetch archive, key map and manifest of one run together."));
            }
            return take(&row);
        }
        Err(Error::file("The key maps end before their archives do"))
    }
}
