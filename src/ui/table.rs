use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, LineStyle};

use super::channel::Channel;
use super::format::visible;

/// Rows and columns for a person. On a terminal it fits the width; in a pipe every row is one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

/// On which side a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

impl Table {
    /// Makes a table without rows.
    pub fn new<'a>(columns: impl IntoIterator<Item = (&'a str, Align)>) -> Self {
        let columns = columns.into_iter().map(|(name, align)| (name.to_owned(), align)).collect();
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row, one text a column. Control characters are made visible.
    pub fn row<T: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(|cell| visible(cell.as_ref()).replace('\n', " ")).collect());
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Tells whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn render(&self, channel: &Channel) -> String {
        self.layout(channel.is_terminal(), channel.width())
    }

    /// Lays the table out; a terminal's width is asked for unless it is given.
    fn layout(&self, terminal: bool, width: Option<u16>) -> String {
        let mut table = comfy_table::Table::new();
        if terminal {
            let _ = table
                .load_style(NOTHING.header_separator(LineStyle::none().fill('─').junction('─')))
                .set_content_arrangement(ContentArrangement::Dynamic);
            if let Some(width) = width {
                let _ = table.set_width(width);
            }
        } else {
            let _ = table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        }
        let _ = table.set_header(self.columns.iter().map(|(name, _)| name)).add_rows(&self.rows);
        let last = self.columns.len().saturating_sub(1);
        for (index, (_, align)) in self.columns.iter().enumerate() {
            if let Some(column) = table.column_mut(index) {
                column.set_cell_alignment(match align {
                    Align::Left => CellAlignment::Left,
                    Align::Right => CellAlignment::Right,
                });
                let _ = column.set_padding((0, if index == last { 0 } else { 2 }));
            }
        }
        table.trim_fmt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tenants() -> Table {
        let mut table = Table::new([("tenant", Align::Left), ("events", Align::Right), ("key", Align::Left)]);
        table.row(["acme", "1,200", "t:acme:Order:A-1001:0"]);
        table.row(["globex", "7", "t:globex:Order:with\x1bescape\nand line:0"]);
        table
    }

    #[test]
    fn in_a_pipe_every_row_is_one_plain_line() {
        assert_eq!(
            tenants().layout(false, None),
            "tenant  events  key\n\
             acme     1,200  t:acme:Order:A-1001:0\n\
             globex       7  t:globex:Order:with\\u{1b}escape and line:0"
        );
    }

    #[test]
    fn on_a_narrow_terminal_no_line_is_wider_than_it() {
        let text = tenants().layout(true, Some(30));
        assert!(text.lines().all(|line| line.chars().count() <= 30), "{text}");
        assert!(text.lines().count() > 4, "{text}");
    }
}
