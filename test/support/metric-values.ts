import { register } from "prom-client";

/** The values of a metric by their labels, in the order of the label names: `a,b`; of one without labels under "". */
export async function metricValues(name: string): Promise<Record<string, number>> {
  const metric = register.getSingleMetric(name);
  if (metric === undefined) throw new Error(`no metric ${name}`);
  const { values } = await metric.get();
  return Object.fromEntries(values.map(({ labels, value }) => [Object.values(labels).join(","), value]));
}
