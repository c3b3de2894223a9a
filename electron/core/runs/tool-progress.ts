/** How far a download or an installation is, as its program drew it last. */
interface ToolBar {
  /** From 0 to 1. */
  share: number
  /** Seconds since it began and until its end, by its own estimate. */
  elapsed?: number | undefined
  left?: number | undefined
  /** What it is of: the same for each pass of a loop. */
  name: string
  bytes: true
}

/** The row of each program, with the groups `percent`, `name`, `left` and `elapsed` as far as it has them. */
const rows: readonly RegExp[] = [
  // aria2: [#2089b0 400.0KiB/33.2MiB(1%) CN:1 DL:115.7KiB ETA:4m51s]
  /^\[#(?<name>[0-9a-f]{6}) [\d.]{1,9}[KMGT]?i?B\/[\d.]{1,9}[KMGT]?i?B\((?<percent>\d{1,3})%\)(?:[^\]]{0,60}? ETA:(?<left>[\dhms]{1,12}))?/,
  // wget: model.bin  45%[=====>     ] 450.10M  12.3MB/s    eta 43s
  /^(?<name>.{0,200}?) {1,20}(?<percent>\d{1,3})% ?\[[=+> ]{3,300}\] {0,4}[\d.,]{1,12}[KMGT]?B?(?:.{0,30}?\beta (?<left>[\dhms ]{1,12}))?/,
  // wget -nv --progress=dot:   450K .......... ..........  45% 12.3M 43s
  /^ {0,8}\d{1,9}K [., ]{10,120}(?<percent>\d{1,3})% {1,3}[\d.]{1,6}[KMGT]?(?: (?<left>[\dhms]{1,12}))?/,
  // curl:  45 1000M   45  450M    0     0  12.3M      0  0:01:21  0:00:36  0:00:45 12.1M
  /^ {0,3}(?<percent>\d{1,3}) {1,6}[\d.]{1,6}[kMGTP]?(?: {1,6}[\d.]{1,6}[kMGTP]?){6} {1,3}[\d:-]{7,8} {1,3}(?<elapsed>[\d:-]{7,8}) {1,3}(?<left>[\d:-]{7,8}) {1,6}[\d.]{1,6}[kMGTP]? {0,3}$/,
  // curl -#: ###########              45.0%
  /^#{1,300} {0,300}(?<percent>\d{1,3}\.\d)%$/,
  // rsync:    450,123,456  45%   12.34MB/s    0:00:45 (xfr#3, to-chk=2/7)
  /^ {0,20}[\d.,]{1,20}[KMGT]? {1,4}(?<percent>\d{1,3})% {1,4}[\d.,]{1,9}[kKMGT]?B\/s {1,6}(?<left>\d{1,4}:\d\d:\d\d)/,
  // conda: pytorch-2.1.0        | 1.2 GB    | ####5      |  45%
  /^(?<name>\S[^|]{0,80}?) {0,60}\| {0,4}[\d.]{1,8} [KMGT]?i?B {0,6}\| {0,2}[#\d ]{3,100} ?\| {0,3}(?<percent>\d{1,3})%/,
  // restic: [0:36] 45.00%  123 files 450.000 MiB, total 300 files 1.000 GiB, 0 errors ETA 0:45
  /^\[(?<elapsed>\d[\d:]{1,9})\] (?<percent>\d{1,3}\.\d\d)% {1,3}\d.{0,120}?(?:\bETA (?<left>\d[\d:]{1,9}))?$/,
  // docker: a3ed95caeb02: Downloading [==========>         ]  45.1MB/100MB
  /^(?<name>[0-9a-f]{12}: (?:Downloading|Extracting|Pushing)) {1,3}\[[=> ]{10,80}\] {1,4}(?<done>[\d.]{1,9})(?<unit>[kMGT]?)B\/(?<all>[\d.]{1,9})(?<allUnit>[kMGT]?)B/,
  // apt: Progress: [ 45%] [#########..........]
  /^(?<name>Progress): \[ {0,2}(?<percent>\d{1,3})%\]/,
  // apt: 45% [3 libfoo 1,234 kB/5,678 kB 22%]                 12.3 MB/s 45s
  /^(?<percent>\d{1,3})% \[(?:\d{1,5} |Working|Waiting|Connecting).{0,200}?\](?: {1,100}[\d.,]{1,9} [kMG]?B\/s (?<left>[\dhmins ]{1,14}))?/,
  // dpkg: (Reading database ... 45%
  /^\((?<name>Reading database) \.\.\. (?<percent>\d{1,3})%/,
]

/** The progress in a row of aria2, wget, curl, rsync, conda, restic, docker or apt. */
export function toolBarIn(row: string): ToolBar | undefined {
  for (const pattern of rows) {
    const groups = pattern.exec(row.trimEnd())?.groups
    if (!groups) continue
    const share = groups['percent'] === undefined ? shareOf(groups) : Number(groups['percent']) / 100
    return {
      share,
      name: (groups['name'] ?? '').replaceAll(/[\d.:/]+/g, '').trim(),
      elapsed: secondsOf(groups['elapsed']),
      left: secondsOf(groups['left']),
      bytes: true,
    }
  }
  return undefined
}

function shareOf({
  done,
  unit = '',
  all,
  allUnit = '',
}: Readonly<Record<string, string | undefined>>): number {
  const size = (figure: string | undefined, letter: string) =>
    Number(figure) * 1000 ** ' kMGT'.indexOf(letter || ' ')
  return size(done, unit) / size(all, allUnit)
}

const seconds: Readonly<Record<string, number>> = { d: 86_400, h: 3600, m: 60, min: 60, s: 1 }

/** Of `4m51s`, `1min 20s` and `0:01:21`; undefined for an unknown time such as `--:--:--`. */
function secondsOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d+(?::\d\d){1,2}$/.test(text))
    return text.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)
  const parts = [...text.matchAll(/(\d{1,6})(min|[dhms])/g)]
  return parts.length === 0
    ? undefined
    : parts.reduce((sum, [, figure, unit = 's']) => sum + Number(figure) * (seconds[unit] ?? 1), 0)
}
