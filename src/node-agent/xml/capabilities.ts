/** What the node can do, as libvirt reports it. */
import { all, find, readXml } from "./read.ts";

export interface NumaNode {
  id: number;
  cores: readonly number[];
  /** Huge pages that were set aside, by their size in KiB. */
  hugepages: Readonly<Record<number, number>>;
}

export interface HostCapabilities {
  architecture: "x86_64" | "aarch64" | undefined;
  /** Whether the processor runs guests of this architecture (KVM). */
  accelerated: boolean;
  nodes: readonly NumaNode[];
}

/** Ordinary memory. */
const SMALLEST_HUGE_KIB = 1024;

/** Reads libvirt's capabilities. Throws a `Fault` (`Invalid`). */
export function readCapabilities(xml: string): HostCapabilities {
  const root = readXml(xml);
  const host = find(root, "host", "cpu", "arch")?.text.trim();
  const architecture = host === "x86_64" || host === "aarch64" ? host : undefined;
  const guest = all(root, "guest").find((one) => find(one, "arch")?.attributes.name === host);
  return {
    architecture,
    accelerated: all(guest, "arch", "domain").some(({ attributes }) => attributes.type === "kvm"),
    nodes: all(root, "host", "topology", "cells", "cell").map((cell) => ({
      id: Number(cell.attributes.id),
      cores: all(cell, "cpus", "cpu").map(({ attributes }) => Number(attributes.id)),
      hugepages: Object.fromEntries(
        all(cell, "pages")
          .map(({ attributes, text }): [number, number] => [Number(attributes.size), Number(text)])
          .filter(([size]) => size >= SMALLEST_HUGE_KIB),
      ),
    })),
  };
}
