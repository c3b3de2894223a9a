const grouped = [0, 1, 2, 3, 4].map(digits => numberFormatter({ maximumFractionDigits: digits }))

/** A number with at most `digits` fraction digits (0 to 4): "1,998", "98.5". */
export function figure(value: number, digits: number): string {
  return grouped[digits]?.(value) ?? String(value)
}

/** "1,998". */
export function count(value: number): string {
  return figure(value, 0)
}

/** "1 file", "3 files"; `many` for an irregular plural. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`
}

/** Always with one fraction digit, for columns: "4.0". */
export function tenths(value: number): string {
  return value.toFixed(1)
}

/** From GB: "2,523 GB", "0.4 GB". */
export function gigabytes(value: number): string {
  return `${figure(value, value < 10 ? 1 : 0)} GB`
}

/** The free space on a host's disk, which is rented in whole GB: "535 GB" for 535.9. */
export function diskRoom(value: number): string {
  return gigabytes(Math.floor(value))
}

/** A GPU's memory, from the service's MB: "80 GB". */
export function gpuMemory(megabytes: number): string {
  return `${count(megabytes / 1024)} GB`
}

/** "92%". */
export function percent(value: number): string {
  return `${count(value)}%`
}

/** From a share of 0 to 1, rounded down so that only 1 shows as 100%: "99.7%". */
export function reliability(share: number): string {
  return `${figure(Math.floor(share * 1000) / 10, 1)}%`
}

/** From Mb/s, in Gb/s as everywhere, with the digits that slow lines need: "2.9", "0.09", "0.004". */
export function gigabits(megabits: number): string {
  return megabits < 100 ? (megabits / 1000).toFixed(megabits < 10 ? 3 : 2) : tenths(megabits / 1000)
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
  return `${figure(amount, amount < 9.95 && unit > 0 ? 1 : 0)} ${bytesUnits[unit]}`
}

/** From bytes per second: "14 MB/s". */
export function speed(value: number): string {
  return `${bytes(value)}/s`
}

/** Formatters take milliseconds to create, which is long for a command, so each is created on its first use. */
export function numberFormatter(options: Intl.NumberFormatOptions): (value: number) => string {
  let formatter: Intl.NumberFormat | undefined
  return value => {
    formatter ??= new Intl.NumberFormat('en-US', options)
    return formatter.format(value)
  }
}
