import type { KubeObject } from "@slipway/kube";
import { at } from "../kinds/cluster-api/field-path.ts";
import type { HardwareDetails } from "../kinds/metal3/hardware.ts";
import { conformed } from "./conformed.ts";
import { hardwareShape, hostOfShape } from "./host-shape.ts";

export interface Hardware {
  /** Name and value, as far as they are known. */
  facts: readonly (readonly [name: string, value: string])[];
  disks: NonNullable<HardwareDetails["storage"]>;
  nics: NonNullable<HardwareDetails["nics"]>;
}

const GIB = 2 ** 30;

/** What a host has inside, from its HardwareData, else from its own status. Pure. */
export function hardwareOf(host: KubeObject, data?: KubeObject): Hardware {
  const inside = at(data, "spec.hardware") ?? at(host, "status.hardware");
  const found = (conformed(inside, hardwareShape) ?? {}) as HardwareDetails;
  const { spec, status } = hostOfShape(host);
  const { systemVendor, cpu, ramMebibytes, firmware } = found;
  const agent = status?.agent;
  const facts: [string, string | undefined][] = [
    ["Maker", systemVendor?.manufacturer],
    ["Product", systemVendor?.productName],
    ["Serial number", systemVendor?.serialNumber],
    ["Processors", cpu && [cpu.count, cpu.model, cpu.arch].filter(Boolean).join(" ")],
    ["Memory", ramMebibytes === undefined ? undefined : `${Math.round((ramMebibytes * 2 ** 20) / GIB)} GiB`],
    ["Firmware", [firmware?.bios?.vendor, firmware?.bios?.version, firmware?.bios?.date].filter(Boolean).join(" ")],
    ["Boot mode", status?.provisioning?.bootMode ?? spec?.bootMode],
    ["Boots from", spec?.bootMACAddress],
    ["BMC", spec?.bmc?.address],
    ["Power", powerOf(spec?.online, status?.poweredOn)],
    ["Trusted because", agent?.trust],
    ["Agent's key", agent?.keyFingerprint],
    ["TPM's endorsement key", agent?.tpm?.endorsementKey],
  ];
  return {
    facts: facts.filter((fact): fact is [string, string] => fact[1] !== undefined && fact[1] !== ""),
    disks: found.storage ?? [],
    nics: found.nics ?? [],
  };
}

function powerOf(wanted: boolean | undefined, is: boolean | undefined): string | undefined {
  const word = (on: boolean): string => (on ? "on" : "off");
  if (is === undefined) return wanted === undefined ? undefined : `is to be ${word(wanted)}`;
  return wanted === undefined || wanted === is ? word(is) : `${word(is)}, is to be ${word(wanted)}`;
}

/** A size as makers of disks write it. */
export function sizeText(bytes: number | undefined): string {
  if (bytes === undefined) return "";
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  const step = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3));
  return `${Number((bytes / 1000 ** step).toPrecision(3))} ${units[step]}`;
}
