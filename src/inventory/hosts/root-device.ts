/**
 * Which disk a host is installed to: Metal3's `rootDeviceHints` against the disks that the agent reported, as Metal3 and Ironic choose
 * (baremetal-operator `devicehints`, ironic-python-agent `device_hints` and `guess_root_disk`). Pure.
 */
import { Fault } from "@slipway/base";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import type { Disk } from "../../netboot/protocol/messages.ts";
import { type WorldWideName, worldWideName } from "./world-wide-name.ts";

export type RootDeviceHints = NonNullable<BareMetalHost["spec"]["rootDeviceHints"]>;

/** The chosen disk by its stable names. */
export interface RootDevice {
  disk: Disk;
  /** For an order of the agent: below `/dev/disk/by-id`, or the device file where the disk has no such name. */
  target: string;
  /** For an installer: the whole path. */
  path: string;
}

const GIBIBYTE = 2 ** 30;
/** Without hints, smaller disks are taken for something else than a place for a system (Ironic's `guess_root_disk`). */
const LEAST_BYTES = 4 * GIBIBYTE;
const MOST_LISTED = 16;

/**
 * With hints the first disk, in the agent's order, for which all of them hold. Without, the smallest of at least 4 GiB, of several such the
 * first by name. A read-only disk is never taken. Throws `Fault` (`Invalid`) that lists each disk with what speaks against it.
 */
export function rootDevice(disks: readonly Disk[], hints: RootDeviceHints | undefined): RootDevice {
  const given = hintsGiven(hints);
  const against = given.length === 0 ? tooSmall : (disk: Disk) => mismatch(disk, given);
  const order = given.length === 0 ? disks.toSorted(bySizeAndName) : disks;
  const refused: { disk: Disk; because: string }[] = [];
  for (const disk of order) {
    const because = disk.readOnly ? "it is read-only" : against(disk);
    if (because === undefined) return named(disk);
    refused.push({ disk, because });
  }
  throw noDisk(refused, given.length > 0);
}

interface Hint {
  name: string;
  wanted: string;
  holds(disk: Disk): boolean;
  /** What the disk has instead. */
  has(disk: Disk): string | undefined;
}

/** Empty texts, and a size of 0, are no hints (Metal3). */
function hintsGiven(hints: RootDeviceHints = {}): Hint[] {
  const { minSizeGigabytes, rotational } = hints;
  const size: Hint[] = minSizeGigabytes ? [sizeHint(minSizeGigabytes)] : [];
  const kind: Hint[] = rotational === undefined ? [] : [rotationHint(rotational)];
  return [...textHints(hints), ...size, ...kind];
}

/** Texts are compared without regard to case and outer blanks; `model` and `vendor` may be a part, all others are the whole. */
function textHints(hints: RootDeviceHints): Hint[] {
  const part = (disk: Disk, key: keyof WorldWideName): string | undefined =>
    disk.wwn === undefined ? undefined : worldWideName(disk.wwn)[key];
  const isWhole = (wanted: string, values: readonly string[]): boolean =>
    values.some((value) => plain(value) === plain(wanted));
  const isPart = (wanted: string, values: readonly string[]): boolean =>
    values.some((value) => plain(value).includes(plain(wanted)));
  const rules: readonly [keyof RootDeviceHints, typeof isWhole, (disk: Disk) => (string | undefined)[]][] = [
    // Ironic compares /dev/sda and the name by path; names by id are what HardwareData shows first, so they are taken, too.
    ["deviceName", isWhole, (disk) => pathsOf(disk)],
    ["hctl", isWhole, ({ hctl }) => [hctl]],
    ["model", isPart, ({ model }) => [model]],
    ["vendor", isPart, ({ vendor }) => [vendor]],
    ["serialNumber", isWhole, ({ serial }) => [serial]],
    // HardwareData has the whole name here.
    ["wwn", isWhole, (disk) => [part(disk, "wwn"), disk.wwn]],
    ["wwnWithExtension", isWhole, (disk) => [part(disk, "wwnWithExtension")]],
    ["wwnVendorExtension", isWhole, (disk) => [part(disk, "wwnVendorExtension")]],
  ];
  return rules.flatMap(([name, compare, read]): Hint[] => {
    const wanted = hints[name];
    if (typeof wanted !== "string" || wanted.trim() === "") return [];
    const values = (disk: Disk): string[] => read(disk).filter((value) => value !== undefined);
    return [{ name, wanted, holds: (disk) => compare(wanted, values(disk)), has: (disk) => values(disk)[0] }];
  });
}

function sizeHint(least: number): Hint {
  return {
    name: "minSizeGigabytes",
    wanted: String(least),
    holds: ({ bytes }) => bytes / GIBIBYTE >= least,
    has: ({ bytes }) => gibibytes(bytes),
  };
}

function rotationHint(wanted: boolean): Hint {
  return {
    name: "rotational",
    wanted: String(wanted),
    holds: ({ rotational }) => rotational === wanted,
    has: ({ rotational }) => String(rotational),
  };
}

function mismatch(disk: Disk, hints: readonly Hint[]): string | undefined {
  const hint = hints.find(({ holds }) => !holds(disk));
  if (hint === undefined) return undefined;
  const has = hint.has(disk);
  return `${hint.name} is ${has === undefined ? "not known" : quoted(has)}, wanted ${quoted(hint.wanted)}`;
}

function tooSmall({ bytes }: Disk): string | undefined {
  return bytes >= LEAST_BYTES ? undefined : `it has ${gibibytes(bytes)} GiB of the ${LEAST_BYTES / GIBIBYTE} needed`;
}

function bySizeAndName(a: Disk, b: Disk): number {
  return a.bytes - b.bytes || (a.name < b.name ? -1 : 1);
}

function named(disk: Disk): RootDevice {
  return { disk, target: disk.byId[0] ?? disk.name, path: pathsOf(disk)[0]! };
}

/** Names of a disk, the stablest first: the order in which HardwareData lists them. */
function pathsOf({ name, byId, byPath }: Disk): [string, ...string[]] {
  const stable = byId.map((id) => `/dev/disk/by-id/${id}`);
  const [first = name, ...rest] = [...stable, ...(byPath === undefined ? [] : [`/dev/disk/by-path/${byPath}`]), name];
  return [first, ...rest];
}

function noDisk(refused: readonly { disk: Disk; because: string }[], isHinted: boolean): Fault {
  const listed = refused.slice(0, MOST_LISTED).map(({ disk, because }) => `${disk.name}: ${because}`);
  if (refused.length > MOST_LISTED) listed.push(`and ${refused.length - MOST_LISTED} more`);
  const why = refused.length === 0 ? "the host has no disk" : listed.join("; ");
  return new Fault("Invalid", "rootDeviceHints", `no disk to install to: ${why}`, {
    remedy: isHinted ? "correct spec.rootDeviceHints" : "choose a disk with spec.rootDeviceHints, or add a larger one",
    details: refused.map(({ disk, because }) => ({ disk: disk.name, because })),
  });
}

function gibibytes(bytes: number): string {
  return String(Math.floor((bytes / GIBIBYTE) * 10) / 10);
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 64));
}

function plain(text: string): string {
  return text.trim().toLowerCase();
}
