/** User data of machines whose manifests bring none, as those of 2019: what kubeadm does there. Pure; the texts hold keys and tokens. */
import { Fault } from "@slipway/base";
import { JINJA, SENTINEL } from "../../../bootstrap/cloud-init/node-user-data.ts";
import { cloudConfig, yaml } from "../../../bootstrap/installation/cloud-config.ts";
import { kubeadmVersion } from "../../../bootstrap/kubeadm/api-version.ts";
import { joinConfigurationText } from "../../../bootstrap/kubeadm/join-configuration.ts";
import type { Cluster } from "../../../kinds/cluster-api/cluster.ts";
import type { ClusterPki } from "./cluster-pki.ts";

const PKI = "/etc/kubernetes/pki";
const FILE = "/run/kubeadm/kubeadm.yaml";
/** The instance's id is the MAC address that the host boots from. */
const PROVIDER_ID = "plunder://{{ v1.instance_id }}";

export interface ControlPlaneTerms {
  cluster: Cluster;
  /** Version of Kubernetes, with its v. */
  version: string;
  endpoint: { host: string; port: number };
  pki: ClusterPki;
  /** The machine's own, where it is known. Unset: kubeadm takes that of its default route, and does nothing where there is none. */
  address: string | undefined;
}

/** The first machine of a control plane. Throws `MissingInput` for a Cluster without Pods' addresses (N40). */
export function initData({ cluster, version, endpoint, pki, address }: ControlPlaneTerms): string {
  const { pods, services, serviceDomain } = cluster.spec.clusterNetwork ?? {};
  const podSubnet = pods?.cidrBlocks?.join(",");
  if (!podSubnet)
    throw new Fault(
      "MissingInput",
      `Cluster/${cluster.metadata.name}`,
      "spec.clusterNetwork.pods.cidrBlocks is empty",
      {
        remedy: "say which addresses Pods have, such as 192.168.0.0/16",
      },
    );
  const configuration = yaml({
    apiVersion: kubeadmVersion(version),
    kind: "ClusterConfiguration",
    clusterName: cluster.metadata.name,
    kubernetesVersion: version,
    controlPlaneEndpoint: hostPort(endpoint),
    networking: { podSubnet, serviceSubnet: services?.cidrBlocks?.join(","), dnsDomain: serviceDomain },
  });
  const init = yaml({
    apiVersion: kubeadmVersion(version),
    kind: "InitConfiguration",
    ...localEndpoint(address),
    nodeRegistration: { kubeletExtraArgs: providerArgument(version) },
    ...patience(version),
  });
  return userData(`${configuration}---\n${init}`, `kubeadm init --config ${FILE}`, pki);
}

export interface JoinTerms extends Pick<ControlPlaneTerms, "version" | "endpoint" | "address"> {
  caHashes: readonly string[];
  token: string;
}

/** A machine that joins: a worker, or with `pki` another one of the control plane. */
export function joinData({ version, endpoint, caHashes, token, address }: JoinTerms, pki?: ClusterPki): string {
  const nodeRegistration = { kubeletExtraArgs: [{ name: "provider-id", value: PROVIDER_ID }] };
  const text = joinConfigurationText(
    { nodeRegistration, ...(pki !== undefined && { controlPlane: { ...localEndpoint(address) } }) },
    { version, endpoint: hostPort(endpoint), caHashes, token },
  );
  return userData(text, `kubeadm join --config ${FILE}`, pki);
}

function userData(configuration: string, command: string, pki: ClusterPki | undefined): string {
  const folder = SENTINEL.slice(0, SENTINEL.lastIndexOf("/"));
  const text = cloudConfig({
    write_files: [
      ...(pki === undefined ? [] : pkiFiles(pki)),
      { path: FILE, owner: "root:root", permissions: "0640", content: configuration },
    ],
    runcmd: [`${command} && mkdir -p ${folder} && echo success > ${SENTINEL}`],
  });
  return `${JINJA}${text}`;
}

function pkiFiles({ ca, etcd, proxy, sa }: ClusterPki): object[] {
  const file = (name: string, content: string, permissions: string) => ({
    ...{ path: `${PKI}/${name}`, owner: "root:root", permissions, content },
  });
  const pair = (
    name: string,
    of: { cert: string; key: string },
    ends: readonly [string, string] = [".crt", ".key"],
  ) => [file(name + ends[0], of.cert, "0644"), file(name + ends[1], of.key, "0600")];
  return [
    ...pair("ca", ca),
    ...pair("etcd/ca", etcd),
    ...pair("front-proxy-ca", proxy),
    ...pair("sa", sa, [".pub", ".key"]),
  ];
}

const isV1beta4 = (version: string): boolean => kubeadmVersion(version).endsWith("v1beta4");

/** kubeadm gives the API server a minute from the kubelet's start, which a slow machine needs for etcd alone; nobody runs it again. Older ones have no such setting. */
function patience(version: string): object {
  return isV1beta4(version)
    ? { timeouts: { kubernetesAPICall: "10m0s", controlPlaneComponentHealthCheck: "10m0s" } }
    : {};
}

/** The kubelet's arguments: a list from v1beta4 on. */
function providerArgument(version: string): object {
  return isV1beta4(version) ? [{ name: "provider-id", value: PROVIDER_ID }] : { "provider-id": PROVIDER_ID };
}

/** Where a control plane's machine listens; Nodes and etcd's members know it by this address. */
function localEndpoint(address: string | undefined): object {
  return address ? { localAPIEndpoint: { advertiseAddress: address } } : {};
}

const hostPort = ({ host, port }: { host: string; port: number }): string =>
  `${host.includes(":") ? `[${host}]` : host}:${port}`;
