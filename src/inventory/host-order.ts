import { type Clock, Fault, formatDuration } from "@slipway/base";
import { type Client, refOf } from "@slipway/kube";
import { BareMetalHost } from "../kinds/metal3/bare-metal-host.ts";
import { type HostOrder, hostStanding } from "./user-orders.ts";

export interface HostOrderPorts {
  client: Client;
  clock: Pick<Clock, "monotonic" | "sleep">;
  /** Prints a line. */
  say(line: string): void;
}

export interface HostOrderOptions {
  /** NAME, NAMESPACE/NAME, or the address of the card that it boots from. */
  host: string;
  order: HostOrder;
  /** False: it is enough that it was asked for. */
  wait: boolean;
  timeoutMs: number;
}

const LOOK_MS = 2_000;

/**
 * Has a host do something, and prints each step until it is done. Rejects with a `Fault`: `NotFound` and `BadRequest` for what names no host or
 * several, `Conflict` where the host would not do it, `Timeout` with what it waits for; the order stays then.
 */
export async function hostOrder(
  { host: named, order, wait, timeoutMs }: HostOrderOptions,
  { client, clock, say }: HostOrderPorts,
): Promise<void> {
  const ref = refOf(await found(named, client));
  const began = clock.monotonic();
  let host = await client.get(BareMetalHost, ref);
  order.check(host);
  host = await client.patch(BareMetalHost, ref, { type: "merge", body: order.patch });
  if (!wait) return say("asked for");
  for (let shown = ""; !order.isDone(host); ) {
    const standing = hostStanding(host);
    if (standing !== shown) say(standing);
    shown = standing;
    if (clock.monotonic() - began >= timeoutMs)
      throw new Fault("Timeout", named, `not done within ${formatDuration(timeoutMs)}: ${standing}`, {
        remedy: "it goes on without this command; kubectl describe bmh shows each step",
      });
    await clock.sleep(LOOK_MS);
    const next = await client.find(BareMetalHost, ref);
    if (next === undefined) throw new Fault("NotFound", named, "it was deleted meanwhile");
    host = next;
  }
  say("done");
}

async function found(named: string, client: Client): Promise<BareMetalHost> {
  const [, namespace, name = ""] = /^(?:(?:hosts?|bmh)\/)?(?:([a-z0-9-]+)\/)?([\w:.-]{1,253})$/i.exec(named) ?? [];
  const { items } = await client.list(BareMetalHost);
  const mac = name.toLowerCase();
  const fitting = items.filter(
    ({ metadata, spec }) =>
      (namespace === undefined || metadata.namespace === namespace) &&
      (metadata.name === name || spec.bootMACAddress?.toLowerCase() === mac),
  );
  if (fitting.length === 1) return fitting[0]!;
  if (fitting.length === 0)
    throw new Fault("NotFound", named, "there is no such BareMetalHost", {
      remedy: "kubectl get bmh -A shows them; machines that only netboot knows: slipway get unleased -o wide",
    });
  const names = fitting.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).join(", ");
  throw new Fault("BadRequest", named, `there are several: ${names}`, { remedy: "name one with its namespace" });
}
