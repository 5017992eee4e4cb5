/** Host names and mail addresses as kube-openapi takes them, which is laxer here and stricter there than the RFCs. */

/** A label alone, or labels before a top-level domain of letters; symbols count as letters. */
const HOSTNAME =
  /^(?:[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?|(?:[a-zA-Z0-9\p{S}\p{L}](?:[-a-zA-Z0-9\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63})$/u;

/** Whether the format `hostname` accepts a text: at most 255 bytes, at most 63 a label, letters of all scripts. */
export function isHostname(text: string): boolean {
  if (!HOSTNAME.test(text) || Buffer.byteLength(text) > 255) return false;
  return text.split(".").every((part) => Buffer.byteLength(part) <= 63);
}

const ATOM_CHARACTERS = "\\w!#$%&'*+\\-/=?^`{|}~\\u0080-\\u{10ffff}";
const ATOM = `[${ATOM_CHARACTERS}]+`;
const QUOTED = '"(?:[^"\\\\\\x00-\\x1f]|\\\\[ -~])*"';
const LOCAL = `(?:${ATOM}(?:\\.${ATOM})*|${QUOTED})`;
const DOMAIN = `(?:${ATOM}(?:\\.${ATOM})*|\\[[!-Z^-~]*\\])`;
/** Words, dots after them and spaces, in a form that is read in one way only: time stays linear. */
const NAME = `(?:[${ATOM_CHARACTERS}]\\.?|${QUOTED}|[\\t-\\r ])*`;
const MAIL = new RegExp(`^(?:\\s*${LOCAL}@${DOMAIN}|${NAME}<${LOCAL}@${DOMAIN}>)\\s*$`, "u");

/** One address of RFC 5322, with or without a name before it (Go's `mail.ParseAddress`). */
export function isMailAddress(text: string): boolean {
  return text.length <= 1000 && MAIL.test(text);
}
