import { Fault, tryParseIp } from "@slipway/base";
import type { Client } from "./client.ts";
import { type Platform, platformOf } from "./options/client-architecture.ts";

/** What to boot, by what the client is. What is absent is not offered: such a client gets an address and no file. */
export interface BootFiles {
  /** TFTP names for PXE firmware. */
  files: Partial<Record<Platform, string>>;
  /** Absolute URLs for firmware that boots by HTTP. */
  urls: Partial<Record<Platform, string>>;
  /** Names or URLs for single architecture numbers (option 93); they go before `files` and `urls`. */
  byArchitecture?: Readonly<Record<number, string>>;
  /** The script's absolute URL, for iPXE. */
  script?: string;
  /**
   * The user class that the user's own iPXE sets. If set, every other iPXE first gets that iPXE from `files`. An iPXE without HTTP is
   * in any case.
   */
  ownUserClass?: string;
  /** Where the files are: option 66 and siaddr. Default: the address that the client reaches this server by. */
  tftpServer?: string;
  /**
   * `given` (default): the file in the answer is the one to boot (option 43.6 = 8). `port4011`: UEFI firmware is sent to port 4011
   * for it, for firmware that mistrusts the former in a proxy's answer.
   */
  uefiDiscovery?: "given" | "port4011";
}

/** What one machine boots instead. */
export interface OwnBoot {
  file?: string;
  script?: string;
}

/** The longest name that is sure to fit the smallest packet beside all that a client needs. */
const LONGEST_NAME = 255;

/** Throws a `Fault` that names the first entry that no client could use. */
export function checkBoot({ files, urls, byArchitecture = {}, script, tftpServer }: BootFiles): void {
  for (const [platform, name] of Object.entries(files)) checkName(`boot file for ${platform}`, name);
  for (const [platform, url] of Object.entries(urls)) checkUrl(`boot URL for ${platform}`, url);
  for (const [number, name] of Object.entries(byArchitecture)) checkName(`boot file for architecture ${number}`, name);
  if (script !== undefined) checkUrl("iPXE script", script);
  const address = tftpServer === undefined ? undefined : tryParseIp(tftpServer);
  if (tftpServer !== undefined && address?.family !== 4)
    throw new Fault("Invalid", "TFTP server", `${JSON.stringify(tftpServer)} is no IPv4 address`);
}

/** As `checkBoot`, for one machine's. */
export function checkOwnBoot(mac: string, { file, script }: OwnBoot): void {
  if (file !== undefined) checkName(`boot file of ${mac}`, file);
  if (script !== undefined) checkUrl(`iPXE script of ${mac}`, script);
}

function checkName(what: string, name: string): void {
  if (/^[\x21-\x7e]+$/.test(name) && name.length <= LONGEST_NAME) return;
  throw new Fault("Invalid", what, `a name is 1 to ${LONGEST_NAME} printable ASCII characters without spaces`);
}

function checkUrl(what: string, url: string): void {
  checkName(what, url);
  if (!isUrl(url)) throw new Fault("Invalid", what, "a URL that starts with http:// or https:// is needed");
}

/** The file or URL that the client boots next; undefined: none. Pure: only what this client sent decides (no state is shared). */
export function bootFileFor(client: Client, boot: BootFiles, own: OwnBoot = {}): string | undefined {
  if (client.ipxe !== undefined && readsScript(client, boot)) return own.script ?? boot.script;
  if (client.raspberryPi || (client.loader === undefined && client.ipxe === undefined)) return undefined;
  const platform = platformOf(client.architecture);
  const byHttp = client.loader === "HTTPClient";
  if (own.file !== undefined && isUrl(own.file) === byHttp) return own.file;
  const single = boot.byArchitecture?.[client.architecture];
  if (single !== undefined) return single;
  if (platform === undefined) return undefined;
  return byHttp ? boot.urls[platform] : boot.files[platform];
}

/** Whether this iPXE goes on with the script rather than with another iPXE: what it is given next is never what it is. */
function readsScript({ ipxe }: Client, { ownUserClass }: BootFiles): boolean {
  if (ipxe === undefined) return false;
  if (ownUserClass !== undefined && ipxe.userClasses.includes(ownUserClass)) return true;
  return ipxe.http && ownUserClass === undefined;
}

function isUrl(name: string): boolean {
  return /^https?:\/\//i.test(name);
}
