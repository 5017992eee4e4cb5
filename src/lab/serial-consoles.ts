import { bootMacOf } from "../inventory/discovery/declaration.ts";
import type { OutputOf } from "../inventory/outputs/outputs.ts";
import { OutputTail } from "../inventory/outputs/tail.ts";
import type { BareMetalHost } from "../kinds/metal3/bare-metal-host.ts";
import type { SerialConsole } from "./console.ts";

/** The serial consoles of the lab's machines from now on, by the card that a BareMetalHost boots from. */
export function serialConsoles(
  machines: readonly { spec: { mac: string }; console: Pick<SerialConsole, "listen"> }[],
): OutputOf {
  const tails = new Map(
    machines.map(({ spec, console }) => {
      const tail = new OutputTail();
      console.listen((text) => tail.push(Buffer.from(text, "latin1")));
      return [spec.mac.toLowerCase(), tail];
    }),
  );
  return async (object) => {
    if (object.kind !== "BareMetalHost") return undefined;
    const [mac = ""] = bootMacOf(object as BareMetalHost);
    const tail = tails.get(mac);
    return tail && { tail, done() {} };
  };
}
