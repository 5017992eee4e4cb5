/** `make kube-assets`: builds what is not there yet, and prints the folder with the binaries as its last line. Arguments: the names of the wanted ones, or minors (`1.35`): what a tenant's control plane of that release is made of. */
import { Fault, systemClock } from "@slipway/base";
import { BINARIES, ofRelease } from "./binaries.ts";
import { provide } from "./provide.ts";

try {
  const folder = await provide({
    binaries: BINARIES,
    names: process.argv.slice(2).flatMap((name) => (/^[0-9.]+$/.test(name) ? ofRelease(name) : [name])),
    sources: import.meta.dirname,
    env: process.env,
    clock: systemClock,
    say: (line) => console.error(`kube-assets: ${line}`),
  });
  console.log(folder);
} catch (error) {
  if (!(error instanceof Fault)) throw error;
  console.error(`kube-assets: ${error.message}${error.remedy === undefined ? "" : `\n  ${error.remedy}`}`);
  process.exitCode = 1;
}
