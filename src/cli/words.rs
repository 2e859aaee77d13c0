use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// One word that a flag takes, what it means, and the value it stands for.
pub(super) type Word<T> = (&'static str, &'static str, T);

/// Takes one of a few words; the help lists them, and a mistyped one gets the closest as a suggestion.
pub(super) fn one_of<T>(words: &'static [Word<T>]) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let possible = words.iter().map(|(word, help, _)| PossibleValue::new(*word).help(*help));
    PossibleValuesParser::new(possible).try_map(|typed| {
        let found = words.iter().find(|(word, _, _)| *word == typed);
        found.map(|(_, _, value)| *value).ok_or("not one of the words")
    })
}
