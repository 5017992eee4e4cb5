/** A jump host's Service, Secrets, ConfigMap and Deployment. Pure. */
import type { Secret } from "@slipway/kube/core";
import { parseBmcAddress } from "../../../../inventory/bmc/address.ts";
import type { JumpHost } from "../../../../kinds/sip/services.ts";
import type { Manifest } from "../../../../tenants/deployment/wanted.ts";
import { besides, checkedPort, checksumOf, dataOf, type Entry, metadataOf, nameOf, pathOf } from "../entry.ts";
import type { ServiceHost } from "../host.ts";
import { deploymentOf, serviceOf } from "../pods.ts";
import type { Rendered } from "../rendered.ts";
import { authorizedKeys } from "./authorized-keys.ts";
import { HOST_COMMAND } from "./host-command.ts";
import { HOST_KEY, PLACES, sshConfig, sshdConfig, USER } from "./ssh-files.ts";

const SSH_PORT = 22;
/** Of the image's user, who reads keys and credentials. */
const GROUP = 1000;

export interface JumpHostInput {
  hosts: readonly ServiceHost[];
  /** Names in the Secret of private keys. */
  keyNames: readonly string[];
  /** Whether that Secret has changed is seen by it. */
  keysVersion: string;
}

/** The Secret with the jump host's own host key: it stays, so that those who log in know it again. */
export const hostKeyName = (entry: Entry): string => besides(entry, "key");

/** What the jump host's own host key is kept in. */
export function hostKeySecret(entry: Entry, key: { privateKey: string; authorizedKey: string }): Manifest<Secret> {
  const data = dataOf({ [HOST_KEY]: key.privateKey, [`${HOST_KEY}.pub`]: `${key.authorizedKey}\n` });
  return { apiVersion: "v1", kind: "Secret", type: "Opaque", metadata: metadataOf(entry, hostKeyName(entry)), data };
}

/** The objects of a jump host, its host key apart. Throws a `Fault` (`Invalid`) that names the field which can't be deployed. */
export function jumpHost(entry: Entry, fields: JumpHost, { hosts, keyNames, keysVersion }: JumpHostInput): Rendered {
  const on = pathOf(entry);
  const nodePort = checkedPort(fields.nodePort, `${on}.nodePort`, 0);
  const keys = authorizedKeys(fields.sshAuthorizedKeys ?? [], `${on}.sshAuthorizedKeys`);
  const reached = hosts.map((host) => ({ ...host, address: host.addresses[fields.nodeInterfaceId ?? ""]! }));
  const secret = {
    ...{ apiVersion: "v1", kind: "Secret", type: "Opaque", metadata: metadataOf(entry) },
    data: dataOf({ hosts: hostsFile(reached), ssh_config: sshConfig(reached, keyNames) }),
  };
  const credentials = {
    ...{ apiVersion: "v1", kind: "Secret", type: "Opaque", metadata: metadataOf(entry, besides(entry, "bmc")) },
    data: dataOf(Object.fromEntries(hosts.flatMap(credentialFiles))),
  };
  const configMap = {
    ...{ apiVersion: "v1", kind: "ConfigMap", metadata: metadataOf(entry) },
    data: { "authorized-keys": keys, host: HOST_COMMAND, sshd_config: sshdConfig() },
  };
  const configuration = checksumOf([secret, credentials, configMap, { kind: keysVersion } as never]);
  const deployment = deploymentOf(entry, fields, {
    configuration,
    containers: [container(fields)],
    volumes: volumes(entry, fields),
    securityContext: { fsGroup: GROUP },
    hostAliases: aliases(reached),
  });
  const service = serviceOf(entry, [{ name: "ssh", port: SSH_PORT, nodePort }]);
  return { service, secrets: [secret, credentials], configMaps: [configMap], deployment };
}

/** What `host` reads. It holds no credentials: those are a pair of files for each host. */
function hostsFile(hosts: readonly (ServiceHost & { address: string })[]): string {
  const list = hosts.map(({ unique: name, role, address, bmc }) => {
    if (bmc === undefined) return { name, role, address };
    const parsed = parseBmcAddress(bmc.address);
    const reached =
      parsed.protocol === "redfish"
        ? { origin: parsed.origin, ...(parsed.system !== undefined && { system: parsed.system }) }
        : {};
    const unchecked = bmc.isTrusted && { disableCertificateVerification: true };
    return { name, role, address, bmc: { address: bmc.address, ...reached, ...unchecked } };
  });
  return `${JSON.stringify(list, undefined, 2)}\n`;
}

function credentialFiles({ unique, bmc }: ServiceHost): [string, string][] {
  if (bmc === undefined) return [];
  return [
    [`${unique}.username`, bmc.username],
    [`${unique}.password`, bmc.password],
  ];
}

/** Hosts that share an address share a line. */
function aliases(hosts: readonly { unique: string; address: string }[]): { ip: string; hostnames: string[] }[] {
  const names = new Map<string, string[]>();
  for (const { unique, address } of hosts)
    names.set(address, [...(names.get(address) ?? []), unique.toLowerCase().replaceAll("_", "-")]);
  return [...names].map(([ip, hostnames]) => ({ ip, hostnames }));
}

/** sshd refuses keys that others may read, and lists that others may write: both are copied to where nobody else is. */
const START = [
  "set -e",
  `mkdir -p /run/sshd ${PLACES.run} /tmp`,
  `chmod 0755 /run/sshd ${PLACES.run}`,
  "chmod 1777 /tmp",
  `install -m 0600 ${PLACES.hostKeys}/${HOST_KEY} ${PLACES.run}/${HOST_KEY}`,
  `install -m 0644 ${PLACES.sshd}/authorized_keys ${PLACES.run}/authorized_keys`,
  `exec /usr/sbin/sshd -D -e -f ${PLACES.sshd}/sshd_config`,
].join("\n");

function container({ image, bmc }: JumpHost): object {
  const tcp = { tcpSocket: { port: SSH_PORT } };
  const direct = ["NO_PROXY", "no_proxy"].map((name) => ({ name, value: "*" }));
  return {
    ...{ name: "jumphost", image, imagePullPolicy: "IfNotPresent", command: ["/bin/sh", "-c", START] },
    ports: [{ name: "ssh", containerPort: SSH_PORT, protocol: "TCP" }],
    ...(bmc?.proxy !== true && { env: direct }),
    livenessProbe: { ...tcp, initialDelaySeconds: 15, periodSeconds: 10 },
    readinessProbe: { ...tcp, initialDelaySeconds: 5, periodSeconds: 20 },
    resources: { requests: { cpu: "10m", memory: "32Mi" } },
    volumeMounts: [
      { name: "hosts", mountPath: PLACES.hosts, subPath: "hosts", readOnly: true },
      { name: "hosts", mountPath: `/home/${USER}/.ssh/config`, subPath: "ssh_config", readOnly: true },
      { name: "bmc", mountPath: PLACES.credentials, readOnly: true },
      { name: "scripts", mountPath: PLACES.scripts, readOnly: true },
      { name: "sshd", mountPath: PLACES.sshd, readOnly: true },
      { name: "private-keys", mountPath: PLACES.privateKeys, readOnly: true },
      { name: "host-keys", mountPath: PLACES.hostKeys, readOnly: true },
      { name: "kubeconfig", mountPath: PLACES.kube, readOnly: true },
    ],
  };
}

const READABLE = 0o440;

function volumes(entry: Entry, { nodeSSHPrivateKeys }: JumpHost): object[] {
  const name = nameOf(entry);
  const files = (...items: { key: string; path: string }[]): object => ({ name, items });
  return [
    { name: "hosts", secret: { secretName: name, defaultMode: READABLE } },
    { name: "bmc", secret: { secretName: besides(entry, "bmc"), defaultMode: READABLE } },
    { name: "scripts", configMap: { ...files({ key: "host", path: "host" }), defaultMode: 0o555 } },
    {
      name: "sshd",
      configMap: files(
        { key: "sshd_config", path: "sshd_config" },
        { key: "authorized-keys", path: "authorized_keys" },
      ),
    },
    { name: "private-keys", secret: { secretName: nodeSSHPrivateKeys, defaultMode: READABLE } },
    { name: "host-keys", secret: { secretName: hostKeyName(entry), defaultMode: 0o400 } },
    { name: "kubeconfig", secret: kubeconfigOf(entry) },
  ];
}

/** The Secret by which Cluster API and others say how a cluster of this name is reached. It may come later, or never. */
function kubeconfigOf({ cluster }: Entry): object {
  const items = [{ key: "value", path: "config" }];
  return { secretName: `${cluster.metadata.name}-kubeconfig`, optional: true, defaultMode: READABLE, items };
}
