import { useComputed } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { growthOf } from "../../../views/growth.ts";
import { machines } from "../rows.ts";

const HEIGHT_PX = 160;

/** How many machines there were and how many were Ready, over time: from their own moments, nothing is stored. */
export function Growth() {
  const box = useRef<HTMLDivElement>(null);
  const data = useComputed(() => growthOf(machines.value.map(({ object }) => object)));
  const { times, made, ready } = data.value;
  const isShown = times.length > 1;
  useEffect(() => {
    if (!isShown || box.current === null) return;
    const element = box.current;
    const color = (name: string): string => colorOf(element, name);
    const axis = { stroke: color("--dim"), grid: { stroke: color("--line"), width: 1 } };
    const line = (label: string, of: string) => ({ label, stroke: color(of), width: 2, points: { show: false } });
    const plot = new uPlot(
      {
        ...{ width: element.clientWidth, height: HEIGHT_PX, legend: { show: false }, cursor: { show: false } },
        axes: [axis, axis],
        series: [{}, line("made", "--busy"), line("ready", "--good")],
      },
      [[...times], [...made], [...ready]],
      element,
    );
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [data.value]);
  if (!isShown) return null;
  const label = `Machines over time: ${made.at(-1)} made, ${ready.at(-1)} Ready`;
  return (
    <figure>
      <div ref={box} role="img" aria-label={label} />
      <figcaption>
        <span class="word busy">
          <i aria-hidden="true" />
          made
        </span>{" "}
        <span class="word good">
          <i aria-hidden="true" />
          Ready
        </span>
      </figcaption>
    </figure>
  );
}

/** A colour of the style sheet as a canvas takes it: `light-dark()` is worked out only where it is a property's value. */
function colorOf(element: HTMLElement, name: string): string {
  element.style.color = `var(${name})`;
  const { color } = getComputedStyle(element);
  element.style.color = "";
  return color;
}
