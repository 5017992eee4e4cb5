/** plunder's deployments as BareMetalHosts that are left as they are, and as profiles by which they are installed once somebody says so. */
import { cryptoRandom } from "@slipway/base";
import { dump } from "js-yaml";
import { hashPassword } from "../../pki/password.ts";
import { type BootConfig, typeOf } from "../files/boot-config.ts";
import { type Deployments, type HostConfig, inherited } from "../files/deployment.ts";
import { isSaid } from "../files/texts.ts";
import type { Note } from "./note.ts";

const NAMESPACE = "slipway-hosts";

/** A BareMetalHost for each deployment. Nothing on its machine is written or wiped. */
export function hostObjects({ deployments }: Deployments): object[] {
  return deployments.map(({ mac, bootConfigName, config: { hostname, address } }) => ({
    apiVersion: "metal3.io/v1alpha1",
    kind: "BareMetalHost",
    metadata: {
      name: hostName(mac, hostname),
      namespace: NAMESPACE,
      annotations: { "plunder/boot-config": bootConfigName, ...(isSaid(address) && { "plunder/address": address }) },
    },
    spec: { externallyProvisioned: true, online: true, bootMACAddress: mac },
  }));
}

function hostName(mac: string, hostname: string | undefined): string {
  const name = (hostname ?? "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, "-")
    .replaceAll(/^[-.]+|[-.]+$/g, "")
    .slice(0, 63);
  return name === "" ? `host-${mac.replaceAll(":", "-")}` : name;
}

/** A Secret for each boot configuration that is an installer's. */
export function profileObjects(
  { globalConfig, deployments }: Deployments,
  bootConfigs: readonly BootConfig[],
): object[] {
  return bootConfigs
    .filter((boot) => typeOf(boot) === "preseed" || typeOf(boot) === "kickstart")
    .map((boot) => {
      const first = deployments.find(({ bootConfigName }) => bootConfigName === boot.configName);
      const config = inherited(first?.config ?? {}, globalConfig);
      return {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: boot.configName.toLowerCase().replaceAll(/[^a-z0-9.-]+/g, "-"), namespace: NAMESPACE },
        stringData: { profile: dump(profileOf(boot, config)) },
      };
    });
}

function profileOf(boot: BootConfig, config: HostConfig): object {
  const {
    username,
    password,
    sshkey,
    ntpserver = "",
    packages = "",
    lvmEnabled,
    swapDisabled,
    repoaddress,
    mirrordir = "",
  } = config;
  const words = (text: string): string[] => text.split(/[\s,]+/).filter(isSaid);
  const hash = isSaid(password)
    ? hashPassword(password, Buffer.from(cryptoRandom.bytes(12)).toString("base64"))
    : undefined;
  return {
    kernel: urlOf(boot.kernelPath),
    initrd: urlOf(boot.initrdPath),
    ...(isSaid(boot.cmdline) && { arguments: words(boot.cmdline) }),
    user: {
      name: username ?? "",
      sshKeys: isSaid(sshkey) ? [Buffer.from(sshkey, "base64").toString("utf8").trim()] : [],
      ...(hash !== undefined && { passwordHash: hash }),
    },
    ntpServers: words(ntpserver),
    packages: words(packages),
    layout: lvmEnabled ? "lvm" : "plain",
    swap: swapDisabled ? "none" : { mebibytes: 1024 },
    ...(isSaid(repoaddress) && { mirror: `http://${repoaddress}/${mirrordir.replace(/^\/+/, "")}` }),
    ...(typeOf(boot) === "kickstart" && { release: 9 }),
  };
}

/** A path of the original's is of its server: the address of netboot's goes before it. */
function urlOf(path = ""): string {
  return /^https?:\/\//.test(path) ? path : `http://NETBOOT:8080/${path.replace(/^\/+/, "")}`;
}

/** By field: what it becomes in the profile, or on the host. */
const FIELDS: Readonly<Record<keyof HostConfig, Omit<Note, "path">>> = {
  adapter: { lost: "the card is found by its MAC address" },
  address: { becomes: "a reservation of DHCP; a fixed address in the installed system is networkData's" },
  hostname: { becomes: "the name of the BareMetalHost" },
  gateway: { becomes: "networkData, or dhcp.subnets" },
  subnet: { becomes: "networkData, or dhcp.subnets" },
  nameserver: { becomes: "networkData, or dhcp.subnets" },
  ntpserver: { becomes: "profile: ntpServers" },
  lvmEnabled: { becomes: "profile: layout" },
  swapDisabled: { becomes: "profile: swap" },
  username: { becomes: "profile: user.name" },
  password: { becomes: "profile: user.passwordHash, as a hash" },
  repoaddress: { becomes: "profile: mirror" },
  mirrordir: { becomes: "profile: mirror" },
  sshkeypath: { lost: "it is a file of plunder's server: write the line in it into user.sshKeys" },
  sshkey: { becomes: "profile: user.sshKeys" },
  packages: { becomes: "profile: packages" },
  bootyAction: { becomes: "spec.image", lost: "images are written, not read" },
  compressed: { becomes: "spec.image.format" },
  sourceImage: { becomes: "spec.image.url" },
  destinationDevice: { becomes: "spec.rootDeviceHints.deviceName" },
  sourceDevice: { lost: "an image is not read from a machine" },
  destinationAddress: { lost: "an image is not read from a machine" },
  growPartition: { lost: "the image's cloud-init grows it" },
  lvmRootName: { lost: "the image's cloud-init grows it" },
  shellOnFail: { lost: "after a failure the machine boots the agent, and its log is shown" },
};

/** Of a profile, which all machines of a boot configuration share. */
const SHARED: readonly (keyof HostConfig)[] = [
  "ntpserver",
  "lvmEnabled",
  "swapDisabled",
  "username",
  "password",
  "repoaddress",
  "mirrordir",
  "sshkey",
  "packages",
];

/** What each field of what all machines have in common becomes. */
export function globalNotes(config: HostConfig): Note[] {
  return notesOf(config, ["globalConfig"]);
}

/** What each field of each deployment becomes. `bootConfigs`: undefined where no configuration is among the files. */
export function deploymentNotes(
  { deployments }: Deployments,
  all: Deployments,
  bootConfigs: readonly BootConfig[] | undefined,
): Note[] {
  return deployments.flatMap((deployment, at) => {
    const { mac, bootConfigName, bootConfig, config } = deployment;
    const path = ["deployments", at] as const;
    const isKnown = bootConfigs?.some(({ configName }) => configName === bootConfigName);
    const isTwice = all.deployments.some((other) => other !== deployment && other.mac === mac);
    // The profile is of the first machine.
    const first = all.deployments.find((other) => other.bootConfigName === bootConfigName);
    const own = notesOf(config, [...path, "config"]).map((note) => {
      const field = note.path.at(-1) as keyof HostConfig;
      const differs = first !== deployment && SHARED.includes(field) && first?.config[field] !== config[field];
      return differs
        ? {
            path: note.path,
            lost: `machines of ${bootConfigName} share one profile, and the first has another value: make a profile of its own`,
          }
        : note;
    });
    return [
      {
        path: [...path, "mac"],
        becomes: `spec.bootMACAddress of BareMetalHost ${hostName(mac, config.hostname)}`,
        ...(isTwice && { lost: "two deployments are for this machine" }),
      },
      {
        path: [...path, "bootConfigName"],
        becomes: "customDeploy.method, once it is to be installed anew",
        ...(isKnown === false && { lost: "there is no boot configuration of this name" }),
      },
      ...(bootConfig === undefined
        ? []
        : [{ path: [...path, "bootConfig"], lost: "plunder took the one that bootConfigName names" }]),
      ...own,
    ];
  });
}

function notesOf(config: HostConfig, path: Note["path"]): Note[] {
  return (Object.keys(config) as (keyof HostConfig)[]).flatMap((field) =>
    config[field] === undefined || config[field] === "" ? [] : [{ path: [...path, field], ...FIELDS[field] }],
  );
}
