//! Checks JSON against a JSON schema, strictly: a keyword that it does not know fails the test.

use serde_json::{Map, Value};

/// Everything in `value` that `schema` does not allow, each with where it is.
pub fn violations(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, schema, value, "$", &mut found);
    found
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let schema = schema.as_object().unwrap_or_else(|| panic!("{at}: a schema is an object"));
    for (keyword, operand) in schema {
        if let Some(what) = keyword_violated(root, schema, keyword, operand, value, at, found) {
            found.push(format!("{at}: {what}"));
        }
    }
}

/// What one keyword objects to; members and items report for themselves.
fn keyword_violated(
    root: &Value,
    schema: &Map<String, Value>,
    keyword: &str,
    operand: &Value,
    value: &Value,
    at: &str,
    found: &mut Vec<String>,
) -> Option<String> {
    let holds = |schema: &Value| {
        let mut none = Vec::new();
        check(root, schema, value, at, &mut none);
        none.is_empty()
    };
    let number = |value: &Value| value.as_i64();
    match keyword {
        "$schema" | "title" | "description" | "$defs" => None,
        "$ref" => {
            let pointer = operand.as_str().unwrap().strip_prefix('#').unwrap();
            check(root, root.pointer(pointer).unwrap_or_else(|| panic!("{pointer}")), value, at, found);
            None
        }
        "type" => {
            let is_of_type = match operand.as_str().unwrap() {
                "object" => value.is_object(),
                "array" => value.is_array(),
                "string" => value.is_string(),
                "boolean" => value.is_boolean(),
                "integer" => value.is_i64() || value.is_u64(),
                other => panic!("{at}: the type {other} is not known here"),
            };
            (!is_of_type).then(|| format!("{value} is no {operand}"))
        }
        "enum" => {
            (!operand.as_array().unwrap().contains(value)).then(|| format!("{value} is not in {operand}"))
        }
        "pattern" => {
            let pattern = regex::Regex::new(operand.as_str().unwrap()).unwrap();
            value
                .as_str()
                .filter(|text| !pattern.is_match(text))
                .map(|text| format!("{text:?} is not like {pattern}"))
        }
        "minimum" => (number(value)? < number(operand)?).then(|| format!("{value} is below {operand}")),
        "maximum" => (number(value)? > number(operand)?).then(|| format!("{value} is above {operand}")),
        "oneOf" => {
            let matching = operand.as_array().unwrap().iter().filter(|it| holds(it)).count();
            (matching != 1).then(|| format!("{value} matches {matching} of {operand}"))
        }
        "anyOf" => (!operand.as_array().unwrap().iter().any(holds))
            .then(|| format!("{value} matches none of {operand}")),
        "not" => holds(operand).then(|| format!("{value} must not match {operand}")),
        "required" => {
            let missing =
                operand.as_array().unwrap().iter().find(|name| value.get(name.as_str().unwrap()).is_none());
            missing.filter(|_| value.is_object()).map(|name| format!("{name} is missing"))
        }
        "minProperties" => {
            let count = i64::try_from(value.as_object()?.len()).unwrap();
            (count < number(operand)?).then(|| format!("has {count} members"))
        }
        "propertyNames" => {
            value.as_object()?.keys().for_each(|name| check(root, operand, &name.clone().into(), at, found));
            None
        }
        "items" => {
            value.as_array()?.iter().for_each(|item| check(root, operand, item, at, found));
            None
        }
        "properties" => {
            for (name, member) in value.as_object()? {
                if let Some(schema) = operand.get(name) {
                    check(root, schema, member, &format!("{at}.{name}"), found);
                }
            }
            None
        }
        "additionalProperties" => {
            let known = |name: &str| schema.get("properties").is_some_and(|known| known.get(name).is_some());
            for (name, member) in value.as_object()?.iter().filter(|(name, _)| !known(name)) {
                match operand {
                    Value::Bool(false) => found.push(format!("{at}: {name} is not allowed")),
                    schema => check(root, schema, member, &format!("{at}.{name}"), found),
                }
            }
            None
        }
        other => panic!("{at}: the keyword {other} is not known here"),
    }
}
