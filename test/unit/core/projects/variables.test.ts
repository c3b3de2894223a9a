import { execFileSync, spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { specChangeOf } from '#cli/options.ts'
import { readSpec } from '#core/projects/read-spec.ts'
import { environmentText } from '#core/runs/remote.ts'
import { csv } from '#shared/format/csv.ts'
import { environmentOf } from '#shared/project/handed-over.ts'
import type { ProjectSpec } from '#shared/project/spec.ts'
import { settingsOf, settingWords } from '#shared/project/sweep.ts'
import { listOfTexts, textsIn, variableProblem } from '#shared/project/variables.ts'
import { anyCharacter } from '#test/unit/any-character.ts'

function specOf(text: string): ProjectSpec {
  const read = readSpec(text)
  if ('problems' in read) throw new Error(JSON.stringify(read.problems))
  return read.spec
}

/** The variables that a shell's command has, after the shell has read them as a run's does. */
function inShell(shell: readonly string[], values: Readonly<Record<string, string>>): Map<string, string> {
  const [program = '', ...words] = shell
  const output = execFileSync(program, words, {
    input: `${environmentText(values)}env -0\n`,
    encoding: 'utf8',
  })
  return new Map(
    output.split('\0').map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
}

const shells = [['bash'], ['dash'], ['busybox', 'sh']].filter(
  ([program = '']) => spawnSync(program, ['--help']).error === undefined,
)

/** What YAML takes for numbers and truths, and other texts that may stand without quotes. */
const plain = fc.oneof(
  fc.constantFrom('3.10', '007', '7041e88', '12345678901234567890', '1e-4', '0x1F', '0o17', '1.0', 'true'),
  fc.constantFrom(
    'False',
    '2024-01-01',
    '.inf',
    '-.INF',
    '.nan',
    '12e5410',
    '1_000',
    '+1',
    '-0',
    '9007199254740993',
  ),
  fc.stringMatching(/^[+-]?\d{1,25}(?:\.\d{0,20})?(?:[eE][+-]?\d{1,4})?$/),
  fc.stringMatching(/^0[xob][0-9a-fA-F]{1,20}$/),
  fc.stringMatching(/^[a-zA-Z0-9._/~+-]{1,20}$/).filter(text => !/^-+$|^[~.-]$|^-\s|^null$/i.test(text)),
)
const anyText = fc
  .string({ unit: anyCharacter, maxLength: 60 })
  .filter(text => !text.includes('\0') && !/\p{Surrogate}/u.test(text))

test('a value of a sweep or the environment is what stands in the file, whatever YAML would make of it', () => {
  fc.assert(
    fc.property(fc.array(plain, { minLength: 1, maxLength: 5 }), texts => {
      const entries = texts.map((text, at) => `V${at}: ${text}`).join(', ')
      const spec = specOf(`run: x\nenv: { ${entries} }\nsweep: { a: [${texts.join(', ')}] }\n`)
      expect(environmentOf(spec).map(({ value }) => value)).toEqual(texts)
      expect(settingsOf(spec)).toEqual(texts.map(a => ({ a })))
      expect(settingsOf(specOf(`run: x\nsweep: [{ ${entries} }]\n`))).toEqual([
        Object.fromEntries(texts.map((text, at) => [`V${at}`, text])),
      ])
    }),
  )
})

test('a name for the value of an alias changes nothing, and neither does a tag', () => {
  const spec = specOf(
    'run: x\nmachine: { count: &n 02 }\nenv: { A: *n, B: !!float 3.10, C: &c 1e3, True: *c }\n',
  )
  expect(spec).toMatchObject({ machine: { count: 2 }, env: { A: '02', B: '3.10', C: '1e3', True: '1e3' } })
})

test('any text of a file reaches the commands of every shell byte by byte', () => {
  const written = fc.oneof(
    plain.map(text => ({ text, yaml: text })),
    anyText.map(text => ({ text, yaml: JSON.stringify(text) })),
  )
  fc.assert(
    fc.property(fc.array(written, { minLength: 1, maxLength: 20 }), values => {
      const spec = specOf(`run: x\nenv:\n${values.map(({ yaml }, at) => `  V${at}: ${yaml}\n`).join('')}`)
      const texts = Object.fromEntries(environmentOf(spec).map(({ name, value }) => [name, value]))
      for (const shell of shells) {
        const arrived = inShell(shell, texts)
        expect(values.map((_, at) => arrived.get(`V${at}`))).toEqual(values.map(({ text }) => text))
      }
    }),
    { numRuns: 30 },
  )
})

test('every name that is not refused reaches the commands of every shell', () => {
  const known = execFileSync('bash', ['-c', 'compgen -v'], { encoding: 'utf8' }).split('\n').filter(Boolean)
  const others =
    'ENV TMOUT CDPATH GLOBIGNORE FUNCNAME PROMPT_COMMAND PS1 PS4 OPTARG REPLY COLUMNS LINES HOSTNAME USER TZ try'
  const names = [...known, ...others.split(' ')].filter(name => variableProblem(name) === undefined)
  expect(names).toEqual(expect.arrayContaining(['HOSTNAME', 'LANG', 'TZ']))
  for (const shell of shells) {
    const arrived = inShell(shell, Object.fromEntries(names.map(name => [name, 'C x'])))
    expect(names.filter(name => arrived.get(name) !== 'C x')).toEqual([])
  }
})

test.each([
  'PATH',
  'HOME',
  'IFS',
  'LD_PRELOAD',
  'BASH_ENV',
  'ENV',
  'SHELLOPTS',
  'UID',
  '_',
  'BERTH_RUN',
  'CDPATH',
])('the name %s is refused in the environment, in a sweep and with --set', name => {
  for (const text of [`env: { ${name}: x }`, `sweep: { ${name}: [x] }`, `sweep: [{ ${name}: x }]`])
    expect(readSpec(`run: x\n${text}\n`)).toMatchObject({ problems: [{ line: 2 }] })
  expect(() => specChangeOf({ set: [`${name}=x`] })).toThrow(name)
})

test.each([
  'env: { A: }',
  'sweep: { A: [1, , 2] }',
  'sweep: { A: [] }',
  'env: { A: "\\0" }',
  'env: { constructor: 1 }',
])('%s is refused', text => {
  expect(readSpec(`run: x\n${text}\n`)).toMatchObject({ problems: [{ line: 2 }] })
})

test.each([
  [['lr=1e-4,3e-4'], { lr: ['1e-4', '3e-4'] }],
  [['a="hello, world",b'], { a: ['hello, world', 'b'] }],
  [['a=\'x, "y"\''], { a: ['x, "y"'] }],
  [['a={"x":1,"y":[2,3]},{"x":"},"}'], { a: ['{"x":1,"y":[2,3]}', '{"x":"},"}'] }],
  [['a=1', 'b=x', 'a=2'], { a: ['1', '2'], b: ['x'] }],
  [['a=""'], { a: [''] }],
  [["a=it's, x=y"], { a: ["it's", 'x=y'] }],
] as const)('--set %j is %j', (set, sweep) => {
  expect(specChangeOf({ set: [...set] })?.sweep).toEqual(sweep)
})

test.each([
  ['a=1,,2', 'a value is missing'],
  ['a=', 'a value is missing'],
  ['a=1,', 'a value is missing'],
  ['a="x', 'is not closed'],
  ['a={"x": 1', 'is not closed'],
  ['a="x"y', 'comes no comma'],
  ['model.lr=1', 'letters, digits and _'],
  ['=1', 'takes a name'],
])('--set %s is refused: %s', (word, why) => {
  expect(() => specChangeOf({ set: [word] })).toThrow(why)
})

test('a list of texts is read as it was, whatever is in them', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(plain, anyText, fc.string({ unit: fc.constantFrom(...'"\',{}[] \\a\n') })), {
        minLength: 1,
      }),
      texts => {
        const list = listOfTexts(texts)
        expect(textsIn(list)).toEqual({ texts })
        expect(list).not.toContain('\n')
      },
    ),
  )
})

test('texts of a setting stand in its label and in the CSV as in the file', () => {
  const [setting = {}] = settingsOf(specOf('run: x\nsweep: { py: [3.10], seed: [007], lr: [-1e-3] }\n')) ?? []
  expect(settingWords(setting)).toBe('py=3.10 seed=007 lr=-1e-3')
  expect(csv([Object.values(setting)])).toBe('3.10,007,-1e-3\r\n')
  expect(csv([['=1+1', '-1+cmd', '+x', '-5']])).toBe("'=1+1,'-1+cmd,'+x,-5\r\n")
})
