import { isIPv4, isIPv6 } from "node:net";
import { Fault, isFault } from "@slipway/base";
import { type HarvesterJoin, ROLES } from "./join.ts";
import { managementProblems, type NoteProblem } from "./validate-network.ts";
import { artifactsOf, type HarvesterVersion, since } from "./version.ts";

/** Something about a join that the installer would refuse (`fatal`) or not heed. Never holds the token or the password. */
export interface JoinProblem {
  /** Name of the field in `HarvesterJoin`: `management.bondOptions.mode`. */
  field: string;
  message: string;
  fatal: boolean;
}

/**
 * The installer's own rules, applied before a machine is bought: what passes here passes the validator of the release
 * that `isoUrl` names, as far as it doesn't depend on the machine's disks and cards. Pure.
 */
export function joinProblems(join: HarvesterJoin): readonly JoinProblem[] {
  const problems: JoinProblem[] = [];
  const refuse = (field: string, message: string): void => void problems.push({ field, message, fatal: true });
  const warn = (field: string, message: string): void => void problems.push({ field, message, fatal: false });

  const version = versionOf(join, refuse);
  if (version !== undefined) unheeded(join, version, warn);
  hostname(join.hostname, refuse);
  serverUrl(join.serverUrl, refuse);
  credentials(join, refuse);
  each("dnsNameservers", join.dnsNameservers, refuse, (server) =>
    isIPv4(server) ? undefined : `${quoted(server)} is not an IPv4 address`,
  );
  each("ntpServers", join.ntpServers, refuse, (server) =>
    isHost(server) ? undefined : `${quoted(server)} is neither a host name nor an address`,
  );
  for (const [name, value] of Object.entries(join.labels ?? {})) label(name, value, refuse);
  if (join.role !== undefined && !ROLES.includes(join.role))
    refuse("role", `${quoted(join.role)} is none of ${ROLES.join(", ")}`);
  disk("device", join.device, refuse);
  if (join.dataDisk !== undefined) disk("dataDisk", join.dataDisk, refuse);
  if (join.dataDisk === join.device) refuse("dataDisk", "must be another disk than device");
  if (!/^[A-Za-z][A-Za-z0-9]{0,15}(,[0-9]{1,7}[noe]?[78]?r?)?$/.test(join.tty))
    refuse("tty", `${quoted(join.tty)} is not a console such as ttyS1,115200n8`);
  for (const [at, hook] of (join.webhooks ?? []).entries())
    if (!isWebUrl(hook.url)) refuse(`webhooks[${at}].url`, "is not an http or https URL");
  managementProblems(join, refuse);
  return problems;
}

function credentials({ token, password, sshAuthorizedKeys = [] }: HarvesterJoin, refuse: NoteProblem): void {
  if (token === "") refuse("token", "is required");
  else if (!/^[\x20-\x7e]+$/.test(token)) refuse("token", "may hold printable ASCII characters only");
  if (!password && sshAuthorizedKeys.length === 0)
    refuse("password", "a password or an SSH key is required: without one, no login to the machine is possible");
  if (password !== undefined && /[\r\n\0]/.test(password)) refuse("password", "must be one line");
  each("sshAuthorizedKeys", sshAuthorizedKeys, refuse, (key) =>
    SSH_KEY.test(key) ? undefined : "is neither a public key on one line nor github:<user>",
  );
}

function each(
  field: string,
  values: readonly string[] | undefined,
  refuse: NoteProblem,
  problemOf: (value: string) => string | undefined,
): void {
  for (const [at, value] of (values ?? []).entries()) {
    const problem = problemOf(value);
    if (problem !== undefined) refuse(`${field}[${at}]`, problem);
  }
}

/** Throws `Fault` (`Invalid`) that names every field the installer would refuse. */
export function assertJoin(join: HarvesterJoin): void {
  const fatal = joinProblems(join).filter((problem) => problem.fatal);
  if (fatal.length === 0) return;
  const list = fatal.map(({ field, message }) => `${field}: ${message}`).join("; ");
  throw new Fault("Invalid", "HarvesterConfig", list, { details: fatal });
}

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const QUALIFIED = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
const SSH_KEY =
  /^((ssh-(rsa|ed25519|dss)|ecdsa-sha2-nistp(256|384|521)|sk-(ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com) [A-Za-z0-9+/]+={0,3}( [^\r\n\0]*)?|(github|gitlab):[A-Za-z0-9_.-]+)$/;

function versionOf(join: HarvesterJoin, refuse: NoteProblem): HarvesterVersion | undefined {
  try {
    return artifactsOf(join).version;
  } catch (error) {
    if (!isFault(error)) throw error;
    refuse(error.on, error.message.slice(error.on.length + 2));
    return undefined;
  }
}

function unheeded(join: HarvesterJoin, version: HarvesterVersion, warn: NoteProblem): void {
  const warnBefore = (field: string, first: string): void => warn(field, `has no effect before Harvester ${first}`);
  if (join.role !== undefined && join.role !== "default" && !since.role(version)) warnBefore("role", "1.3");
  if (join.cordoned && !since.cordoned(version)) warnBefore("cordoned", "1.9");
  if (join.skipChecks && !since.skipChecks(version)) warnBefore("skipChecks", "1.2");
  if (join.management.vlanId !== undefined && !since.managementInterface(version))
    warnBefore("management.vlanId", "1.1");
  if (join.management.mtu !== undefined && !since.managementInterface(version)) warnBefore("management.mtu", "1.1");
}

/** RFC 1123 subdomain; at most 63 characters, because it becomes the value of the label `kubernetes.io/hostname`. */
function hostname(name: string, refuse: NoteProblem): void {
  if (name.length > 63) refuse("hostname", "is longer than 63 characters");
  else if (!isSubdomain(name))
    refuse("hostname", `${quoted(name)} is not a lower-case RFC 1123 name (letters, digits, - and .)`);
}

/** The installer of 1.1.3 and later refuses another port and any path. */
function serverUrl(text: string, refuse: NoteProblem): void {
  const url = URL.parse(text);
  if (url === null || url.protocol !== "https:") {
    refuse("serverUrl", "is not an https URL");
    return;
  }
  if (url.port !== "" && url.port !== "443") refuse("serverUrl", `port ${url.port} is not 443`);
  // `URL` adds the final slash itself, so the text decides.
  if (!/^https:\/\/[^/?#@]+$/i.test(text)) refuse("serverUrl", "must be a host alone: no path, query or user");
}

function label(name: string, value: string, refuse: NoteProblem): void {
  const slash = name.indexOf("/");
  const prefixed = slash < 0 || (isSubdomain(name.slice(0, slash)) && slash <= 253);
  if (!prefixed || !QUALIFIED.test(name.slice(slash + 1))) refuse(`labels[${name}]`, "is not a label name");
  if (value !== "" && !QUALIFIED.test(value)) refuse(`labels[${name}]`, `${quoted(value)} is not a label value`);
}

function disk(field: string, path: string, refuse: NoteProblem): void {
  if (!/^\/dev\/[A-Za-z0-9._:+/-]+$/.test(path) || path.split("/").includes(".."))
    refuse(field, `${quoted(path)} is not a path below /dev`);
}

function isSubdomain(name: string): boolean {
  return name.length <= 253 && name.split(".").every((part) => LABEL.test(part));
}

function isHost(text: string): boolean {
  return isIPv4(text) || isIPv6(text) || isSubdomain(text.toLowerCase());
}

function isWebUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === "https:" || url.protocol === "http:");
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
