import { Fault, isMac } from "@slipway/base";
import { FOLDERS, netbootClient } from "./netboot-client.ts";
import { say } from "./outgoing.ts";
import type { Verb } from "./verb.ts";

/** `slipway logs`: asks the netboot that runs with the folder. */
export const verb: Verb = (program) => {
  program
    .command("logs")
    .description("Show what a host said while it booted: DHCP, TFTP, scripts, syslog and the agent.")
    .argument("<host>", "host/NAME, NAME, or the address of one of its cards")
    .option("-f, --follow", "go on until Ctrl-C", false)
    .option("--dir <folder>", "folder of the netboot; unset: the ones that netboot, up and lab use")
    .addHelpText(
      "after",
      "\nExamples:\n  slipway logs host/host-52-54-00-12-34-56\n  slipway logs 52:54:00:12:34:56 -f",
    )
    .action(async (name: string, { follow, dir }: { follow: boolean; dir?: string }) => {
      const host = hostArgument(name);
      const client = await netbootClient(dir === undefined ? FOLDERS : [dir]);
      const stop = new AbortController();
      process.once("SIGINT", () => stop.abort());
      try {
        for await (const { at, source, line } of client.logs(host, { follow, signal: stop.signal }))
          say(`${new Date(at).toISOString()} ${source.padEnd(6)} ${line}`);
      } catch (error) {
        if (!stop.signal.aborted) throw error;
      } finally {
        await client.close();
      }
    });
};

/** The host that an argument names. Throws a `Fault` for what can be none. */
export function hostArgument(text: string): string {
  const name = text.replace(/^hosts?\//, "");
  // Names of hosts have no colon, so that one with a colon is a card's address.
  if (name.includes(":") && !isMac(name))
    throw new Fault("BadRequest", text, "is no address of a card", {
      remedy: "write six pairs of hex digits, such as 52:54:00:12:34:56, or the host's name",
    });
  if (/^[\w:.-]{1,64}$/.test(name)) return name;
  throw new Fault("BadRequest", text, "is no host", { remedy: "slipway get unleased -o wide shows their names" });
}
