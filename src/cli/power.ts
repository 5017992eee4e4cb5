import { power, reset } from "../inventory/user-orders.ts";
import { addHostOptions, type HostVerbOptions, orderHost } from "./host-verb.ts";
import type { Verb } from "./verb.ts";

/** `slipway power`: by the host's BMC, as its BareMetalHost says. */
export const verb: Verb = (program) => {
  const command = program
    .command("power")
    .description("Switch a host on, off, or off and on, by its BMC.")
    .addHelpText(
      "after",
      `
On and off set spec.online, so that the host is kept so; reset is the annotation reboot.metal3.io.

Examples:
  slipway power on rack-1-node-4
  slipway power off rack-1-node-4 --timeout 300
  slipway power reset slipway-hosts/rack-1-node-5 --hard`,
    );
  addHostOptions(command.command("on").description("Switch it on.")).action((host: string, options: HostVerbOptions) =>
    orderHost(host, power(true), options),
  );
  addHostOptions(
    command.command("off").description("Have its system end, and cut the power after three minutes."),
  ).action((host: string, options: HostVerbOptions) => orderHost(host, power(false), options));
  addHostOptions(command.command("reset").description("Have its system end, and switch it on again."))
    .option("--hard", "cut the power at once", false)
    .action((host: string, { hard, ...options }: HostVerbOptions & { hard: boolean }) =>
      orderHost(host, reset({ hard }), options),
    );
};
