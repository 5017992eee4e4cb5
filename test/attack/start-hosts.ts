/** Opens a file of hosts as netboot does at its start, in a process of its own, and prints what came of it as one line of JSON. */
import { cryptoRandom, systemClock } from "@slipway/base";
import { jsonLog } from "@slipway/base/json-log";
import { openHostStore } from "../../src/netboot/hosts/host-store.ts";
import { Hosts } from "../../src/netboot/hosts/hosts.ts";

const hosts = new Hosts({
  store: openHostStore(process.argv[2]!, jsonLog()),
  clock: systemClock,
  random: cryptoRandom,
});
hosts.seen({ mac: "52:54:00:00:00:01" });
process.stdout.write(
  `${JSON.stringify({ hosts: hosts.list().length, shown: hosts.list().filter((each) => each.inventory !== undefined).length, kept: hosts.list().filter((each) => each.boot === "wait").length })}\n`,
);
hosts.close();
