import { systemClock } from "@slipway/base";
import type { Act, ActPorts, ActResult } from "../systems/act.ts";
import { type ProgressRow, table } from "./progress.ts";

/** An act of the demo on its way. */
export class Play {
  /** Resolves when it has ended, however it did. */
  readonly ended: Promise<void>;
  readonly #act: Act;
  #step = "it begins";
  #result: ActResult | undefined;
  #failure: { error: unknown } | undefined;

  constructor(act: Act, { client, manifests }: Pick<ActPorts, "client" | "manifests">, signal: AbortSignal) {
    this.#act = act;
    const tell = (step: string): void => {
      this.#step = step;
    };
    this.ended = act.play({ client, clock: systemClock, signal, tell, manifests }).then(
      (result) => {
        this.#result = result;
      },
      (error: unknown) => {
        this.#failure = { error };
      },
    );
  }

  /** Throws what the act failed by. */
  isOver(): boolean {
    if (this.#failure !== undefined) throw this.#failure.error;
    return this.#result !== undefined;
  }

  row(): ProgressRow {
    const doing = this.#result === undefined ? this.#step : "over, and nothing is left of it";
    return { name: this.#act.title, status: this.#result === undefined ? "playing" : "over", doing, brief: doing };
  }

  /** The title, and the table of what was seen. */
  table(): string[] {
    const { heads, rows } = this.#result ?? { heads: [], rows: [] };
    return [this.#act.title, ...table(heads, rows)];
  }
}
