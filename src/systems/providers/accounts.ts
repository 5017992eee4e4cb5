/**
 * Which account at a machine provider serves an object: the MachineProvider it names, else the Secret that the
 * original system used. Shared by all systems that buy machines.
 */
import { Fault } from "@slipway/base";
import type { Client } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { MachineProvider } from "../../kinds/slipway/machine-provider.ts";
import type { AccountSource } from "../../machines/accounts.ts";

/** Where the account is described that serves objects which name no MachineProvider. */
export interface OwnAccount {
  namespace: string;
  secret: string;
  onSecret?: (value: string) => void;
}

/** What accounts are read by. */
export type Reader = Pick<Client, "find">;

/** The account that serves a specification: the MachineProvider it names, else the original's own Secret. */
export function accountOf(
  spec: { providerRef?: { name: string } | undefined },
  client: Reader,
  own: OwnAccount,
): AccountSource {
  const name = spec.providerRef?.name;
  return name === undefined ? ownAccount(client, own) : providerAccount(name, client, own);
}

function ownAccount(client: Reader, own: OwnAccount): AccountSource {
  return {
    name: `Secret/${own.namespace}/${own.secret}`,
    async read() {
      const keys = { name: own.secret, tokenKey: "METAL_AUTH_TOKEN", projectKey: "PROJECT_ID" };
      const found = await credentials(client, own, keys);
      return { type: "equinix", endpoint: undefined, ca: undefined, ...found, planMapping: {}, metroMapping: {} };
    },
  };
}

function providerAccount(name: string, client: Reader, own: OwnAccount): AccountSource {
  return {
    name: `MachineProvider/${name}`,
    async read() {
      const provider = await client.find(MachineProvider, { name });
      if (provider === undefined) {
        throw new Fault("MissingInput", `MachineProvider/${name}`, "there is no such MachineProvider", {
          remedy: "create it, or correct spec.providerRef.name",
        });
      }
      const {
        type,
        endpoint,
        credentialsSecretRef: ref,
        planMapping = {},
        metroMapping = {},
        tls,
        inventory,
      } = provider.spec;
      const base = { type, endpoint, planMapping, metroMapping };
      // The cluster itself says who may do what to its hosts.
      if (inventory !== undefined) return { ...base, ca: undefined, token: "", project: "", inventory };
      if (ref === undefined)
        throw new Fault("Invalid", `MachineProvider/${name}`, "spec.credentialsSecretRef is not set", {
          remedy: "name the Secret with the credentials",
        });
      const keys = {
        name: ref.name,
        tokenKey: ref.tokenKey ?? "METAL_AUTH_TOKEN",
        projectKey: ref.projectKey ?? "PROJECT_ID",
      };
      const ca =
        tls && (await secretValues(client, own.namespace, tls.caSecretRef.name, [tls.caSecretRef.key ?? "ca.crt"]));
      return { ...base, ca: ca?.[0], ...(await credentials(client, own, keys)) };
    },
  };
}

async function credentials(
  client: Reader,
  own: OwnAccount,
  keys: { name: string; tokenKey: string; projectKey: string },
): Promise<{ token: string; project: string }> {
  const [token, project] = await secretValues(client, own.namespace, keys.name, [keys.tokenKey, keys.projectKey]);
  own.onSecret?.(token!);
  return { token: token!, project: project! };
}

/** The values of these keys, all there and none empty. */
async function secretValues(
  client: Reader,
  namespace: string,
  name: string,
  keys: readonly string[],
): Promise<string[]> {
  const on = `Secret/${namespace}/${name}`;
  const secret = await client.find(Secret, { namespace, name });
  if (secret === undefined) {
    throw new Fault("MissingInput", on, "the Secret does not exist", {
      remedy: `create it with ${keys.join(" and ")}`,
    });
  }
  return keys.map((key) => {
    const value = Buffer.from(secret.data?.[key] ?? "", "base64")
      .toString("utf8")
      .trim();
    if (value !== "") return value;
    throw new Fault("MissingInput", on, `the Secret has no key ${key}`, { remedy: `add the key ${key}` });
  });
}
