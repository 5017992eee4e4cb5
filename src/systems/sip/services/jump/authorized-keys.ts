/** Public keys that may log in (sshd(8), AUTHORIZED_KEYS FILE FORMAT). Pure. */
import { Fault } from "@slipway/base";

const TYPES =
  "ssh-rsa|ssh-ed25519|ecdsa-sha2-nistp256|ecdsa-sha2-nistp384|ecdsa-sha2-nistp521|sk-ssh-ed25519@openssh\\.com|sk-ecdsa-sha2-nistp256@openssh\\.com";
/** Options with their quoted values, then type, key and a comment. */
const LINE = new RegExp(
  `^(?:(?<options>(?:[a-z-]+(?:="(?:[^"\\\\]|\\\\.)*")?)(?:,[a-z-]+(?:="(?:[^"\\\\]|\\\\.)*")?)*)[ \\t]+)?(?<type>${TYPES})[ \\t]+(?<blob>[A-Za-z0-9+/]+={0,2})(?:[ \\t]+(?<comment>.*))?$`,
  "i",
);

/** The text of an authorized_keys file. Throws `Invalid` that names the key which is none by its place. `on`: the list. */
export function authorizedKeys(keys: readonly string[], on: string): string {
  return keys.map((key, at) => `${checkedKey(key.trim(), `${on}[${at}]`)}\n`).join("");
}

function checkedKey(key: string, on: string): string {
  const refuse = (why: string): never => {
    throw new Fault("Invalid", on, why, { remedy: "write it as it is in id_ed25519.pub: type, key, comment" });
  };
  if (/\p{Cc}/u.test(key.replaceAll("\t", " "))) return refuse("a key is one line");
  const { type = "", blob = "" } = LINE.exec(key)?.groups ?? {};
  if (type === "") return refuse("it is no public key of OpenSSH");
  const bytes = Buffer.from(blob, "base64");
  const length = bytes.length < 4 ? 0 : bytes.readUInt32BE(0);
  if (bytes.subarray(4, 4 + length).toString() !== type || bytes.length <= 4 + length)
    return refuse(`the key is damaged: it is not of type ${type}`);
  return parts(bytes) ? key : refuse("the key is damaged: it is cut off");
}

/** Whether the bytes are whole strings (RFC 4251 §5), and nothing else. */
function parts(bytes: Buffer): boolean {
  let at = 0;
  while (at + 4 <= bytes.length) at += 4 + bytes.readUInt32BE(at);
  // A security key ends in its application; all are strings.
  return at === bytes.length;
}
