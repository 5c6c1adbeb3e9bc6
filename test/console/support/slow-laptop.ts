/** A quarter of the speed of this machine. */
export const SLOW_LAPTOP = { rate: 4 };
/** 10 Mbit/s, 40 ms. */
const BYTES_PER_S = 1_250_000;
export const SLOW_LINE = {
  offline: false,
  latency: 40,
  downloadThroughput: BYTES_PER_S,
  uploadThroughput: BYTES_PER_S,
};

const READ = `
  const read = performance.getEntriesByType("resource");
  const bytesOf = (some) => some.reduce((sum, { transferSize }) => sum + transferSize, 0);`;

/** From the navigation until the form is drawn, which is on record a frame after it has the focus. */
export const FIRST_PAGE = `new Promise((resolve) => {
  const look = () => {
    const [drawn] = performance.getEntriesByName("first-contentful-paint");
    if (drawn === undefined) return void requestAnimationFrame(look);
    ${READ}
    const [page] = performance.getEntriesByType("navigation");
    resolve({ count: read.length + 1, bytes: page.transferSize + bytesOf(read), ms: Math.round(drawn.startTime) });
  };
  look();
})`;

/** Signs in, and waits until every figure of the overview and every Master has its values. */
export const untilFilled = (masters: number): string => `new Promise((resolve) => {
  const begin = performance.now();
  document.querySelector(".sign-in button").click();
  const isFilled = () => {
    const figures = [...document.querySelectorAll(".figure .value")].map((one) => one.textContent);
    const rows = document.querySelectorAll("#masters .badge:not(.waiting)").length;
    return figures.length >= 8 && !figures.includes("…") && rows >= ${masters};
  };
  const look = () => {
    if (!isFilled()) return void requestAnimationFrame(look);
    ${READ}
    const own = read.filter(({ startTime }) => startTime >= begin);
    resolve({ count: own.length, bytes: bytesOf(own), ms: Math.round(performance.now() - begin) });
  };
  look();
})`;
