import type { Page } from "playwright-core";
import type { FakeConsole } from "./fake-console.ts";
import { host } from "./objects.ts";

/** What of the page's memory is in use after its garbage is collected, in bytes. */
export async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  try {
    await session.send("HeapProfiler.collectGarbage");
    const { usedSize } = await session.send("Runtime.getHeapUsage");
    return usedSize;
  } finally {
    await session.detach();
  }
}

const BATCH = 100;

/**
 * Changes hosts in turn, `count` times in all, in batches as the server sends them, and waits until the page of machines shows the last one. `from`: number
 * of the first change; no number comes twice.
 */
export async function changeHosts(
  { fake, page }: { fake: FakeConsole; page: Page },
  { hosts, from, count }: { hosts: number; from: number; count: number },
): Promise<void> {
  const changed = (number: number, change: number) =>
    host(`host-${String(number).padStart(5, "0")}`, {
      metadata: { resourceVersion: String(change + 2), labels: { "topology.kubernetes.io/rack": `r${change % 40}` } },
      status: { provisioning: { state: `state-${change}`, ID: "" } },
    });
  const end = from + count;
  for (let at = from; at < end; at += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, end - at) }, (_, i) => changed((at + i) % hosts, at + i));
    fake.set(...batch);
    await fake.taken();
  }
  // The first row is on the screen.
  fake.set(changed(0, end));
  await page.getByText(`state-${end}`, { exact: true }).waitFor({ timeout: 120_000 });
}
