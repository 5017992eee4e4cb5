import type { Transport } from "@slipway/kube";

interface Reported {
  metadata: { name: string };
  status?: { provisioning?: { state?: string } };
}

/** The states of hosts as they are written, by whichever process. */
export class StateChanges {
  readonly #states = new Map<string, string>();
  readonly #seen: (host: string, from: string, to: string) => void;

  /** `seen` is called with each change that the API has taken. */
  constructor(seen: (host: string, from: string, to: string) => void) {
    this.#seen = seen;
  }

  /** The way to the API of one process. */
  through(inner: Transport): Transport {
    return {
      watch: (request) => inner.watch(request),
      close: () => inner.close(),
      request: async (request) => {
        const answer = await inner.request(request);
        const isStatus = request.method === "PUT" && /\/baremetalhosts\/[^/]+\/status$/.test(request.path);
        if (isStatus && answer.status < 300) this.#note(request.body as Reported);
        return answer;
      },
    };
  }

  #note({ metadata: { name }, status }: Reported): void {
    const [from, to] = [this.#states.get(name) ?? "", status?.provisioning?.state ?? ""];
    if (from === to) return;
    this.#states.set(name, to);
    this.#seen(name, from, to);
  }
}
