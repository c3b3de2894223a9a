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

/** The room on a host's disk, of which only whole GB can be rented: "535 GB" for 535.9. */
export function diskRoom(value: number): string {
  return gigabytes(Math.floor(value))
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

const bytesUnits = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** From bytes: "0 B", "812 B", "1.4 kB", "261 MB". */
export function bytes(value: number): string {
  let amount = value
  let unit = 0
  while (amount >= 999.5 && unit < bytesUnits.length - 1) {
    amount /= 1000
    unit++
  }
  return `${(amount < 9.95 && unit > 0 ? tenths : number).format(amount)} ${bytesUnits[unit]}`
}

/** From bytes per second: "14 MB/s". */
export function speed(value: number): string {
  return `${bytes(value)}/s`
}
