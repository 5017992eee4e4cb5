/** The restart of an installed machine, by its own system. */
import { Fault, isFault } from "@slipway/base";
import type { OpenShell } from "./shell.ts";

const RESTART_MS = 60_000;

/**
 * Has the system at an address restart its machine, where that has one of these cards: an address may be another machine's by now. Rejects with a `Fault`, what
 * `open` rejects with included.
 */
export async function restartBySsh(
  open: OpenShell,
  { address, macs }: { address: string; macs: readonly string[] },
  signal: AbortSignal,
): Promise<void> {
  const shell = await open(address, signal);
  const cards = macs.map((mac) => `-e ${mac}`).join(" ");
  const command = `cat /sys/class/net/*/address | grep -qiFx ${cards} || exit 3; sudo -n shutdown -r now || sudo -n reboot`;
  try {
    const { code } = await shell.run(command, { timeoutMs: RESTART_MS, signal });
    if (code === 3) throw new Fault("Refused", address, "another machine answers there by now");
    if (code !== 0) throw new Fault("Refused", address, `its system does not restart: sudo ended with ${code}`);
  } catch (error) {
    // It restarts at once.
    if (!isFault(error, "LostAnswer")) throw error;
  } finally {
    await shell.close();
  }
}
