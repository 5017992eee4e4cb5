/** What a sub-cluster's services need to know of a host: its addresses, and how its management controller is reached. */
import { Fault, isFault } from "@slipway/base";
import type { Client } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { parseBmcAddress } from "../../../inventory/bmc/address.ts";
import { hostSecret, secretTexts } from "../../../inventory/hosts/host-secrets.ts";
import type { BareMetalHost } from "../../../kinds/metal3/bare-metal-host.ts";
import { addressesIn } from "./network-data.ts";

export interface HostBmc {
  /** As the host has it, scheme and path of the machine included. */
  address: string;
  username: string;
  password: string;
  /** Accept any certificate. */
  isTrusted: boolean;
}

export interface HostFacts {
  /** By the id of a network. */
  addresses: Readonly<Record<string, string>>;
  /** Undefined: the host has no management controller. */
  bmc?: HostBmc;
}

/**
 * Reads both of the host's Secrets. Rejects with `MissingInput`, `Invalid` or `Forbidden` where the host can't be used (`isHostFault`), or as the
 * API does. `networks`: ids of those whose addresses are needed.
 */
export async function hostFacts(client: Client, host: BareMetalHost, networks: readonly string[]): Promise<HostFacts> {
  const texts = await hostSecret(host, "networkData", client);
  if (texts === undefined) throw new Fault("MissingInput", "spec.networkData", "it is not set");
  const text = texts.networkData ?? texts.value;
  if (text === undefined)
    throw new Fault("MissingInput", "spec.networkData", "the Secret has neither key networkData nor value");
  const addresses = addressesIn(text, networks);
  const bmc = await bmcOf(client, host);
  return { addresses, ...(bmc !== undefined && { bmc }) };
}

/** Whether the fault is about the host, so that another may take its place. */
export function isHostFault(error: unknown): error is Fault {
  return isFault(error, "MissingInput", "Invalid", "Forbidden") && error.on.startsWith("spec.");
}

async function bmcOf(client: Client, { metadata, spec }: BareMetalHost): Promise<HostBmc | undefined> {
  if (spec.bmc === undefined || spec.bmc.address === "") return undefined;
  const { address, credentialsName: name, disableCertificateVerification: isTrusted = false } = spec.bmc;
  checked(address);
  const { namespace } = metadata;
  const secret = name ? await client.find(Secret, { name, ...(namespace !== undefined && { namespace }) }) : undefined;
  if (secret === undefined)
    throw new Fault("MissingInput", "spec.bmc.credentialsName", `Secret ${namespace}/${name} is not there`);
  const { username, password } = secretTexts(secret);
  if (!username || !password)
    throw new Fault("MissingInput", "spec.bmc.credentialsName", "the Secret has no username or no password");
  return { address, username: username.trim(), password: password.trim(), isTrusted };
}

function checked(address: string): void {
  try {
    parseBmcAddress(address);
  } catch (error) {
    if (!isFault(error, "Invalid")) throw error;
    throw new Fault("Invalid", "spec.bmc.address", error.message, { cause: error });
  }
}
