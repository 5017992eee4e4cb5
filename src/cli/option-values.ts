import { formatIp, tryParseIp } from "@slipway/base";
import { MOST_SHARDS } from "@slipway/kube";
import { InvalidArgumentError } from "commander";

/** Readers of option values, for commander: each returns the value or refuses the text in words that follow "is invalid.". */

/** A TCP port; 0 stands for any free one. */
export function portNumber(text: string): number {
  const port = wholeNumber(text);
  if (port > 65_535) throw new InvalidArgumentError("A port is a number from 0 to 65535.");
  return port;
}

/** A whole number from 0. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("Give a whole number from 0.");
  return Number(text);
}

/** Over how many shards work is shared out. */
export function shardNumber(text: string): number {
  const shards = wholeNumber(text);
  if (shards < 1 || shards > MOST_SHARDS)
    throw new InvalidArgumentError(`Give a whole number from 1 to ${MOST_SHARDS}.`);
  return shards;
}

/** A number above 0, with a fraction if need be. */
export function positiveNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value) || value <= 0)
    throw new InvalidArgumentError("Give a number above 0.");
  return value;
}

/** An http or https URL without a query; returned without a trailing slash. */
export function httpUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "" || url.username !== "")
    throw new InvalidArgumentError("Give a URL such as https://slipway.example:8443.");
  return text.replace(/\/+$/, "");
}

/** The same, https alone. */
export function httpsUrl(text: string): string {
  if (!/^https:/i.test(text)) throw new InvalidArgumentError("Give an https URL such as https://10.0.0.5:9443.");
  return httpUrl(text);
}

export interface ListenAddress {
  host: string;
  port: number;
}

/** `address:port`, `[::1]:port` or `:port` (loopback). */
export function listenAddress(text: string): ListenAddress {
  const [, bracketed, plain, port] = /^(?:\[([0-9a-fA-F:.%\w]+)\]|([^:[\]\s]*)):(\d+)$/.exec(text) ?? [];
  if (port === undefined) throw new InvalidArgumentError("Give address:port, for instance 0.0.0.0:8081.");
  return { host: bracketed ?? (plain || "127.0.0.1"), port: portNumber(port) };
}

/** A reader of names separated by commas, all of which must be among `known`. */
export function namesOf(known: readonly string[]): (text: string) => string[] {
  return (text) => {
    const names = text
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "");
    const strange = names.filter((name) => !known.includes(name));
    if (names.length === 0 || strange.length > 0) {
      const which = strange.length > 0 ? `There is no ${strange.join(", ")}; known` : "Known";
      throw new InvalidArgumentError(`${which}: ${known.join(", ")}.`);
    }
    return names;
  };
}

/** An IPv4 or IPv6 address, canonical. */
export function ipAddress(text: string): string {
  const address = tryParseIp(text);
  if (address === undefined) throw new InvalidArgumentError("Give an address such as 10.0.0.5 or fd00::5.");
  return formatIp(address);
}
