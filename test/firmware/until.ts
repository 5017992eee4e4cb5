import { plain } from "../../src/lab/console.ts";
import type { QemuMachine } from "../../src/lab/qemu-machine.ts";
import type { Host } from "../../src/netboot/hosts/host.ts";
import type { Hosts } from "../../src/netboot/hosts/hosts.ts";

/** Resolves with the machine's host as soon as it is as wanted. Rejects after `seconds`, with what was missing and what the console shows. */
export async function until(
  hosts: Hosts,
  machine: QemuMachine,
  { is, seconds, missing }: { is: (host: Readonly<Host>) => boolean; seconds: number; missing: string },
): Promise<Readonly<Host>> {
  const { promise, resolve, reject } = Promise.withResolvers<Readonly<Host>>();
  const look = (): void => {
    const host = hosts.get(machine.spec.mac);
    if (host !== undefined && is(host)) resolve(host);
  };
  const stop = hosts.onChange(look);
  const late = AbortSignal.timeout(seconds * 1000);
  late.addEventListener("abort", () =>
    reject(
      new Error(
        `${machine.spec.name}: no ${missing} within ${seconds} s; its console:\n${plain(machine.console.lastLines())}`,
      ),
    ),
  );
  look();
  try {
    return await promise;
  } finally {
    stop();
  }
}
