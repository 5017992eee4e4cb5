import { type Controller, keyOf, type Ref } from "@slipway/kube";

/** Wakes a controller from outside of its sources while its workers run. */
export class Waker {
  #wake: ((ref: Ref) => void) | undefined;

  /** The controller's `listen`. `also` begins what wakes it besides, and gives how that ends. */
  listen(also: () => () => void = () => () => {}): NonNullable<Controller["listen"]> {
    return (wake) => {
      this.#wake = wake;
      const end = also();
      return () => {
        this.#wake = undefined;
        end();
      };
    };
  }

  wake(ref: Ref): void {
    this.#wake?.(ref);
  }

  /** Who is woken, for `ExternalObjects.read`. */
  by(kind: string, ref: Ref): { who: string; wake: () => void } {
    return { who: `${kind}/${keyOf(ref)}`, wake: () => this.wake(ref) };
  }
}
