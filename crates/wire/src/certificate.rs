//! What a certificate says: its name, authority, roles and hosts, and how long it is valid.
//!
//! Reads only what people are told. It verifies nothing: rustls decides which certificates and
//! which names are valid (`trust`). The bytes may come from any process.

use std::fmt;
use std::net::IpAddr;
use std::time::SystemTime;

use crate::hello::Role;

/// The domain of the names that stand for roles. No host has a name in it.
const ROLE_DOMAIN: &str = "argiope";
/// The maximum number of characters of a name that is shown.
const SHOWN: usize = 64;
/// The maximum number of hosts that an error lists.
const LISTED: usize = 4;
const DAY: i64 = 24 * 60 * 60;

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OBJECT_ID: u8 = 0x06;
const OCTETS: u8 = 0x04;
const UTC_TIME: u8 = 0x17;
const LONG_TIME: u8 = 0x18;
/// The optional version and the extensions of a certificate.
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;
/// A host name and an IP address among the alternative names.
const DNS_NAME: u8 = 0x82;
const IP_ADDRESS: u8 = 0x87;
/// The object identifiers 2.5.4.3 (common name) and 2.5.29.17 (alternative names).
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1d, 0x11];

impl Role {
    /// The host name that stands for the role in a certificate.
    pub(crate) fn certified_name(self) -> String {
        format!("{}.{ROLE_DOMAIN}", self.name())
    }
}

/// Whether a host name is one of those that stand for roles, or may come to be one.
pub(crate) fn is_reserved(host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    host == ROLE_DOMAIN || host.ends_with(&format!(".{ROLE_DOMAIN}"))
}

/// A moment, to the second. It is shown to the minute, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UtcTime(i64);

impl UtcTime {
    /// This moment.
    pub fn now() -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self::from_unix(now.as_secs())
    }

    /// Seconds since 1970.
    pub(crate) fn from_unix(seconds: u64) -> Self {
        Self(i64::try_from(seconds).unwrap_or(i64::MAX))
    }

    /// Seconds since 1970; 0 for an earlier moment.
    pub(crate) fn to_unix(self) -> u64 {
        u64::try_from(self.0).unwrap_or(0)
    }

    /// The whole days from an earlier moment to this one; negative if that one is later.
    pub(crate) fn days_after(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0).div_euclid(DAY)
    }

    /// Reads a time of a certificate: two or four digits of the year, then two for each part.
    fn read(tag: u8, text: &[u8]) -> Option<Self> {
        let digits = text.strip_suffix(b"Z").filter(|text| text.iter().all(u8::is_ascii_digit))?;
        let (pairs, []) = digits.as_chunks() else { return None };
        let number = |&[ten, one]: &[u8; 2]| i64::from(ten - b'0') * 10 + i64::from(one - b'0');
        let pairs: Vec<i64> = pairs.iter().map(number).collect();
        let (year, rest) = match (tag, &pairs[..]) {
            (UTC_TIME, [year, rest @ ..]) => (if *year < 50 { 2000 } else { 1900 } + year, rest),
            (LONG_TIME, [century, year, rest @ ..]) => (century * 100 + year, rest),
            _ => return None,
        };
        let &[month @ 1..=12, day @ 1..=31, hour @ 0..24, minute @ 0..60, second @ 0..=60] = rest
        else {
            return None;
        };
        Some(Self(days(year, month, day) * DAY + (hour * 60 + minute) * 60 + second))
    }
}

/// Counts the days since 1970-01-01. Years begin in March here, so that a leap day comes last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let of_years = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    of_years + (month * 153 + 2) / 5 + day - 1 - 719_468
}

impl fmt::Display for UtcTime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The inverse of `days`: 400 years have 146,097 days.
        let day = self.0.div_euclid(DAY) + 719_468;
        let (era, of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
        let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month + 2) / 5 + 1;
        let (year, month) = (year + era * 400 + i64::from(month >= 10), (month + 2) % 12 + 1);
        let minutes = self.0.rem_euclid(DAY) / 60;
        write!(
            formatter,
            "{year:04}-{month:02}-{day:02} {:02}:{:02} UTC",
            minutes / 60,
            minutes % 60
        )
    }
}

/// What a certificate says. Its texts are fit to print, also if they come from another process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateSummary {
    /// The name of the machine, the user or the authority.
    pub name: String,
    /// The name of the authority that it says it is from.
    pub authority: String,
    /// What the process that presents it may be.
    pub roles: Vec<Role>,
    /// The hosts at which a controller with this certificate may be dialled.
    pub hosts: Vec<String>,
    /// When its validity begins.
    pub valid_from: UtcTime,
    /// When its validity ends.
    pub valid_until: UtcTime,
}

impl CertificateSummary {
    /// Reads a certificate; `None` if that is no certificate.
    pub(crate) fn read(certificate: &[u8]) -> Option<Self> {
        let mut fields = Der(Der(Der(certificate).content(SEQUENCE)?).content(SEQUENCE)?);
        if fields.next()?.0 == VERSION {
            // The serial number. The algorithm of the signature follows.
            fields.next()?;
        }
        fields.content(SEQUENCE)?;
        let authority = common_name(fields.content(SEQUENCE)?);
        let mut validity = Der(fields.content(SEQUENCE)?);
        let (from, until) = (validity.next()?, validity.next()?);
        let name = common_name(fields.content(SEQUENCE)?);
        let mut summary = Self {
            name: name.unwrap_or_default(),
            authority: authority.unwrap_or_default(),
            roles: Vec::new(),
            hosts: Vec::new(),
            valid_from: UtcTime::read(from.0, from.1)?,
            valid_until: UtcTime::read(until.0, until.1)?,
        };
        for names in fields.filter(|field| field.0 == EXTENSIONS).filter_map(|field| {
            Der(Der(field.1).content(SEQUENCE)?).find_map(|one| alternative_names(one.1))
        }) {
            summary.take_names(names);
        }
        Some(summary)
    }

    fn take_names(&mut self, names: &[u8]) {
        for (tag, content) in Der(names) {
            match (tag, content) {
                (DNS_NAME, name) => {
                    let name = shown(name);
                    match Role::ALL.into_iter().find(|role| role.certified_name() == name) {
                        Some(role) => self.roles.push(role),
                        None => self.hosts.push(name),
                    }
                }
                (IP_ADDRESS, &[a, b, c, d]) => {
                    self.hosts.push(IpAddr::from([a, b, c, d]).to_string());
                }
                (IP_ADDRESS, address) => {
                    if let Ok(address) = <[u8; 16]>::try_from(address) {
                        self.hosts.push(IpAddr::from(address).to_string());
                    }
                }
                _ => {}
            }
        }
    }

    /// The roles as a clause: `has the role client`.
    pub(crate) fn roles_clause(&self) -> String {
        let roles: Vec<&str> = self.roles.iter().map(|role| role.name()).collect();
        match roles.len() {
            0 => "has no role".to_owned(),
            1 => format!("has the role {}", roles[0]),
            _ => format!("has the roles {}", roles.join(" and ")),
        }
    }

    /// The hosts as a clause: `names the host 10.0.0.1`.
    pub(crate) fn hosts_clause(&self) -> String {
        match &self.hosts[..] {
            [] => "names no host".to_owned(),
            [host] => format!("names the host {host}"),
            hosts if hosts.len() <= LISTED => format!("names the hosts {}", hosts.join(" and ")),
            hosts => format!(
                "names the hosts {} and {} others",
                hosts[..LISTED].join(", "),
                hosts.len() - LISTED
            ),
        }
    }
}

/// The first common name of a subject or an issuer.
fn common_name(name: &[u8]) -> Option<String> {
    Der(name).filter(|set| set.0 == SET).find_map(|(_, set)| {
        let mut pair = Der(Der(set).content(SEQUENCE)?);
        let is_common_name = pair.content(OBJECT_ID)? == COMMON_NAME;
        pair.next().filter(|_| is_common_name).map(|(_, text)| shown(text))
    })
}

/// The alternative names, if this extension has them.
fn alternative_names(extension: &[u8]) -> Option<&[u8]> {
    let mut fields = Der(extension);
    if fields.content(OBJECT_ID)? != ALTERNATIVE_NAMES {
        return None;
    }
    // A flag may come first: whether the extension is critical.
    let (_, value) = fields.find(|field| field.0 == OCTETS)?;
    Der(value).content(SEQUENCE)
}

/// Text of a certificate, fit to print.
fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let replaced = |one: char| if one.is_control() || one == '"' { '\u{fffd}' } else { one };
    text.chars().take(SHOWN).map(replaced).collect()
}

/// Reads elements of DER: a tag, a length and the content. Ends at the first one that is not whole.
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// The content of the next element, if it has this tag.
    fn content(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.next().filter(|found| found.0 == tag).map(|found| found.1)
    }
}

impl<'a> Iterator for Der<'a> {
    type Item = (u8, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (&[tag, first], rest) = self.0.split_first_chunk()?;
        // A length below 128 is one byte. Otherwise the byte counts those that follow; rustls takes
        // no certificate that needs more than three.
        let (length, rest) = match usize::from(first) {
            short @ ..128 => (short, rest),
            long => {
                let (bytes, rest) =
                    rest.split_at_checked(long - 128).filter(|it| it.0.len() <= 3)?;
                (bytes.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)), rest)
            }
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, content))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_are_shown_to_the_minute() {
        let shown = |seconds| UtcTime(seconds).to_string();
        assert_eq!(shown(0), "1970-01-01 00:00 UTC");
        assert_eq!(shown(951_782_399), "2000-02-28 23:59 UTC");
        assert_eq!(shown(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(shown(4_107_542_399), "2100-02-28 23:59 UTC");
        assert_eq!(shown(4_107_542_400), "2100-03-01 00:00 UTC");
        assert_eq!(shown(-60), "1969-12-31 23:59 UTC");
    }

    #[test]
    fn times_are_read_in_both_forms() {
        let read = |tag, text: &str| UtcTime::read(tag, text.as_bytes()).map(|it| it.to_string());
        assert_eq!(read(UTC_TIME, "281117102059Z").as_deref(), Some("2028-11-17 10:20 UTC"));
        assert_eq!(read(UTC_TIME, "500101000000Z").as_deref(), Some("1950-01-01 00:00 UTC"));
        assert_eq!(read(LONG_TIME, "20510203040506Z").as_deref(), Some("2051-02-03 04:05 UTC"));
        for bad in ["", "Z", "28111710205Z", "281317102059Z", "281117102059", "2811171020+9Z"] {
            assert_eq!(read(UTC_TIME, bad), None, "{bad}");
        }
    }

    #[test]
    fn names_of_roles_are_reserved() {
        for reserved in ["argiope", "client.argiope", "a.b.ARGIOPE.", "*.argiope"] {
            assert!(is_reserved(reserved), "{reserved}");
        }
        assert!(!is_reserved("argiope.example") && !is_reserved("notargiope"));
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn a_shown_time_is_read_again(seconds in -4_000_000_000_i64..100_000_000_000) {
            let seconds = seconds - seconds.rem_euclid(60);
            let digits: String =
                UtcTime(seconds).to_string().chars().filter(char::is_ascii_digit).collect();
            let read = UtcTime::read(LONG_TIME, format!("{digits}00Z").as_bytes());
            prop_assert_eq!(read, Some(UtcTime(seconds)));
        }

        #[test]
        fn arbitrary_bytes_are_read_without_harm(
            bytes in proptest::collection::vec(any::<u8>(), 0..300)
        ) {
            let _ = CertificateSummary::read(&bytes);
            let _ = alternative_names(&bytes);
            let _ = common_name(&bytes);
            prop_assert!(Der(&bytes).count() <= bytes.len());
        }
    }
}
