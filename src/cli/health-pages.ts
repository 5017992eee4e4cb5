import { type Health, problemsOf, type SystemHealth } from "@slipway/kube";

export interface HealthQuestion {
  /** One line per system, whatever the answer. */
  verbose: boolean;
  /** Whether the boot service and the conversion webhook listen. */
  serving: boolean;
  health: Health;
}

/**
 * Answers `/healthz` (200 unless a restart would help) and `/readyz` (200 once the Kubernetes API was reached and the handlers listen). A
 * system that waits for a definition fails neither: it is named in the text. Undefined: the path is neither.
 */
export function healthPage(path: string, of: HealthQuestion): { status: number; text: string } | undefined {
  const { verbose, serving, health } = of;
  const unready = [
    ...(health.reached ? [] : ["the Kubernetes API was not reached yet"]),
    ...(serving ? [] : ["the boot service and the webhook do not listen yet"]),
  ];
  let failures: string[];
  if (path === "/healthz") failures = health.live ? [] : ["a reconcile hangs: a restart would help"];
  else if (path === "/readyz") failures = unready;
  else return undefined;
  const fine = failures.length === 0;
  // Probes read the status alone; people see in the text what is missing.
  const quiet = fine && (path === "/healthz" || health.problems.length === 0);
  const systems = verbose ? health.systems.flatMap(systemLines) : quiet ? [] : health.problems;
  const lines = [...(fine ? ["ok"] : failures), ...systems];
  return { status: fine ? 200 : 500, text: `${lines.join("\n")}\n` };
}

function systemLines(of: SystemHealth): string[] {
  const { system, ready, problems } = of;
  return [
    `${ready && problems.length === 0 ? "[+]" : "[-]"} ${system}: ${ready ? "ready" : "waits"}, ${partOf(of)}`,
    ...problemsOf(of),
  ];
}

function partOf({ leading, shards: { held, of } }: SystemHealth): string {
  if (of > 1) return `works on ${held} of ${of} shards`;
  return leading ? "leads" : "does not lead";
}
