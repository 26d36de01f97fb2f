//! Foreign text in messages: what a file or a flag holds goes in; a piece short enough to read and
//! safe to print comes out.

/// Most characters of a quotation.
const QUOTED: usize = 80;

/// `text` for a message: control characters escaped, and cut after 80 characters with the number
/// of characters left out.
pub fn quoted(text: &str) -> String {
    clipped(text, QUOTED)
}

/// `text` cut after `limit` characters, with the number of characters left out; control characters
/// other than line ends are escaped, so that a file cannot drive the terminal.
pub fn clipped(text: &str, limit: usize) -> String {
    let mut out = String::with_capacity(text.len().min(4 * limit));
    let mut characters = text.chars();
    for character in characters.by_ref().take(limit) {
        if character.is_control() && character != '\n' {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    let left = characters.count();
    if left > 0 {
        out.push_str(&format!("... ({left} more characters)"));
    }
    out
}

/// `text` with its long words cut, such as a value repeated by somebody else's message.
pub fn shortened(text: &str) -> String {
    text.split_inclusive(char::is_whitespace)
        .map(|word| match word.char_indices().nth(2 * QUOTED) {
            None => word.to_owned(),
            Some(_) => {
                let end = word.len() - word.trim_end().len();
                format!("{}{}", quoted(word.trim_end()), &word[word.len() - end..])
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_with_what_is_left_out_and_short_text_stays() {
        assert_eq!(quoted("5GB"), "5GB");
        assert_eq!(clipped("äbcdef", 3), "äbc... (3 more characters)");
        assert_eq!(quoted(&"9".repeat(80)), "9".repeat(80));
    }

    #[test]
    fn long_words_are_cut_and_the_rest_of_a_message_stays() {
        let text = format!("error: '{}' is too\n  long", "9".repeat(200));
        let expected =
            format!("error: '{}... (122 more characters) is too\n  long", "9".repeat(79));
        assert_eq!(shortened(&text), expected);
    }

    #[test]
    fn control_characters_are_shown_and_not_sent_to_the_terminal() {
        assert_eq!(quoted("a\x1b[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(quoted("a\nb"), "a\nb");
    }
}
