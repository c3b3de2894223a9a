const number = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const tenths = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 })

/** "1,998". */
export function count(value: number): string {
  return number.format(value)
}

/** From GB: "2,523 GB", "0.4 GB". */
export function gigabytes(value: number): string {
  return `${(value < 10 ? tenths : number).format(value)} GB`
}

/** A GPU's memory, from the service's MB: "80 GB". */
export function gpuMemory(megabytes: number): string {
  return `${number.format(megabytes / 1024)} GB`
}

/** "92 %". */
export function percent(value: number): string {
  return `${number.format(value)} %`
}

/** From a share of 0 to 1, rounded down so that nothing short of all is called all: "99.7 %". */
export function reliability(share: number): string {
  return `${tenths.format(Math.floor(share * 1000) / 10)} %`
}
