/** Addresses in a host's network data (OpenStack's network_data.json, as JSON or YAML). Pure. */
import { Fault, formatIp, tryParseIp } from "@slipway/base";
import { secretYaml } from "../../../bootstrap/secret-yaml.ts";

const SOURCE = "spec.networkData";
const LONGEST = 256 * 1024;

/**
 * By the id of each asked network: the host's address in it, without a prefix length. Throws a `Fault` (`Invalid`, `MissingInput`) that names the
 * network and repeats nothing of the text.
 */
export function addressesIn(text: string, ids: readonly string[]): Record<string, string> {
  if (text.length > LONGEST) throw new Fault("Invalid", SOURCE, "longer than 256 KiB");
  const data = secretYaml(text, SOURCE);
  const networks = isObject(data) ? data.networks : undefined;
  if (!Array.isArray(networks)) throw new Fault("Invalid", SOURCE, "there is no list of networks");
  return Object.fromEntries(ids.map((id) => [id, addressOf(networks, id)]));
}

function addressOf(networks: readonly unknown[], id: string): string {
  const network = networks.find((each) => isObject(each) && each.id === id);
  if (!isObject(network)) {
    const known = networks.flatMap((each) => (isObject(each) && typeof each.id === "string" ? [each.id] : []));
    throw new Fault("MissingInput", SOURCE, `there is no network ${quoted(id)}`, {
      remedy: `networks of the host: ${known.slice(0, 20).map(quoted).join(", ") || "none"}`,
    });
  }
  const text = typeof network.ip_address === "string" ? network.ip_address.split("/")[0]! : "";
  const address = tryParseIp(text);
  if (address === undefined) throw new Fault("Invalid", SOURCE, `network ${quoted(id)} has no IP address`);
  return formatIp(address);
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 64));

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
