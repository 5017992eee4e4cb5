import type { QemuMachine } from "../../src/lab/qemu-machine.ts";
import type { Result } from "../../src/netboot/protocol/messages.ts";
import type { UserOrder } from "../../src/netboot/protocol/order.ts";
import type { Netboot } from "../../src/netboot/service/service.ts";
import { until } from "./until.ts";

/** Has the machine's agent do it, and resolves with the result. */
export async function ordered(
  { hosts, order }: Netboot,
  machine: QemuMachine,
  wanted: UserOrder,
  seconds: number,
): Promise<Result> {
  const id = await order(hosts.get(machine.spec.mac)!.name, wanted);
  const host = await until(hosts, machine, {
    is: ({ order: given }) => given?.is.id === id && given.result !== undefined,
    seconds,
    missing: `result of "${wanted.order}"`,
  });
  return host.order!.result!;
}
