/**
 * The single values that installers are given, each as narrow as every format takes it. What a format has no quoting for (line ends,
 * control characters) is in none of them, so no value can start another line, answer, command or key.
 */
import { isMac, parseCidr, parseMac, tryParseIp } from "@slipway/base";
import { z } from "zod";

const MOST_COMMAND = 4000;

/** One line of text as people write it, without control characters and without blanks at its ends. */
export const line = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .refine((text) => !/[\p{C}\p{Zl}\p{Zp}]/u.test(text), "must be one line without control characters")
    .refine((text) => text === text.trim(), "must not begin or end with a blank");

const matching = (pattern: RegExp, what: string, most = 255) => z.string().max(most).regex(pattern, what);

const LABEL = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?";
const SUBDOMAIN = new RegExp(`^${LABEL}(\\.${LABEL})*$`);

/** RFC 1123 in lower case; at most 63 characters, so that it fits a Node's label `kubernetes.io/hostname`. */
export const hostname = matching(SUBDOMAIN, "must be a lower-case RFC 1123 name (letters, digits, - and .)", 63);

/** A host name or an address. */
export const host = z
  .string()
  .max(253)
  .refine((text) => SUBDOMAIN.test(text) || tryParseIp(text) !== undefined, "must be a host name or an address");

export const ipv4 = z.string().refine((text) => tryParseIp(text)?.family === 4, "must be an IPv4 address");

/** `10.0.0.5/24`. */
export const ipv4WithPrefix = z.string().refine((text) => {
  try {
    const { address, prefix } = parseCidr(text);
    return address.family === 4 && prefix > 0;
  } catch {
    return false;
  }
}, "must be an IPv4 address with its prefix length, such as 10.0.0.5/24");

/** In any notation; canonical afterwards. */
export const mac = z
  .string()
  .max(32)
  .refine(isMac, "must be a MAC address such as 52:54:00:12:34:56")
  .overwrite((text) => (isMac(text) ? parseMac(text) : text));

/** http or https. Only characters that mean nothing to a shell in double quotes, to iPXE and to a kernel's command line. */
export const webUrl = matching(
  /^https?:\/\/[A-Za-z0-9[\]._~:/?@=%+,&-]+$/,
  "must be a URL that starts with http:// or https://, without blanks and quotes",
  1024,
).refine((text) => URL.canParse(text), "must be a URL");

/** Where a distribution's packages are. It ends up as host and folder, so it has no query and no user. */
export const mirrorUrl = webUrl.refine((text) => !/[?@]/.test(text), "must have no query and no user");

/** A disk's device file or a stable name of it below `/dev/disk`. */
export const disk = matching(/^\/dev\/[A-Za-z0-9#+.:=@_/-]+$/, "must be a path below /dev").refine(
  (path) => !path.split("/").includes(".."),
  "must be a path below /dev",
);

/** The account that people and automation log in by; `root` stays locked. */
export const userName = matching(
  /^[a-z_][a-z0-9_-]{0,31}$/,
  "must be a lower-case user name (letters, digits, - and _)",
).refine((name) => name !== "root", "must not be root, which stays locked");

/** A password as crypt(3) keeps it: clear text is refused. */
export const passwordHash = matching(
  /^\$(2[aby]|5|6|y|gy)\$[A-Za-z0-9./$=,]{8,200}$/,
  "must be a hash as `mkpasswd -m sha-512` prints it, no clear text",
);

/** A line of `authorized_keys` without options. */
export const sshKey = line(4096).regex(
  /^(ssh-(rsa|ed25519)|ecdsa-sha2-nistp(256|384|521)|sk-(ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com) [A-Za-z0-9+/]+={0,3}( .*)?$/,
  "must be a public key on one line, as in id_ed25519.pub",
);

export const timezone = matching(
  /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+){0,2}$/,
  "must be a time zone such as Etc/UTC or Europe/Vienna",
  64,
);
export const locale = matching(
  /^(C|POSIX|[a-z]{2,3}_[A-Z]{2})(\.UTF-8)?(@[a-z]+)?$/,
  "must be a locale such as en_US.UTF-8",
  32,
);

export const keyboard = z.strictObject({
  layout: matching(/^[a-z]{2,10}$/, "must be an XKB layout such as us or de", 10),
  variant: matching(/^[a-z0-9_-]+$/, "must be an XKB variant such as nodeadkeys", 32).exactOptional(),
});

/** What the package manager is to install: a package, with a version where the manager has a notation for it, or a group (`@core`). */
export const packageName = matching(/^@?\^?[A-Za-z0-9][A-Za-z0-9+.:_~^=-]*$/, "must be the name of a package", 128);

/** One line of sh, run as root in the installed system. */
export const command = line(MOST_COMMAND);
