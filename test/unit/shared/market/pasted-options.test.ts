import { describe, expect, test } from 'vitest'
import { portText } from '#shared/market/docker-options.ts'
import { readPastedOptions } from '#shared/market/pasted-options.ts'

/** The variables, the ports, those without a value, and the pieces that are left. */
function read(text: string) {
  const { variables, unset, ports, unread } = readPastedOptions(text)
  return {
    env: Object.fromEntries(variables.map(({ name, value }) => [name, value])),
    ports: ports.map(portText),
    unset: unset.map(({ name, text }) => (text === '' ? name : `${name}: ${text}`)),
    unread,
  }
}
const nothing = { env: {}, ports: [], unset: [], unread: [] }

describe('read whole', () => {
  test.each<[string, string, Record<string, string>]>([
    ['an option', '-e A=1', { A: '1' }],
    ['every notation', '-e A=1 --env B=2 --env=C=3 -eD=4 -e=E=5', { A: '1', B: '2', C: '3', D: '4', E: '5' }],
    [
      'quotes',
      `-e A="two words" -e 'B=a "b"' -e C='x' -e D="a"b`,
      { A: 'two words', B: 'a "b"', C: 'x', D: 'ab' },
    ],
    ['an escaped quote', String.raw`-e A="say \"hi\""`, { A: 'say "hi"' }],
    ['a value with =', '-e URL=https://x/?a=b', { URL: 'https://x/?a=b' }],
    ['an empty value', '-e A=', { A: '' }],
    [
      'a .env file',
      '# mine\nA=1\n\nexport B="two words"\nC = three words',
      { A: '1', B: 'two words', C: 'three words' },
    ],
    ['a continued command', 'docker run -e A=1 \\\n  -e B=2', { A: '1', B: '2' }],
    ['a name given twice: the later', '-e A=1\nA=2', { A: '2' }],
    ['a byte order mark', '\ufeffFIRST=1', { FIRST: '1' }],
    ['a comment behind a value', 'LR=3e-4 # tuned', { LR: '3e-4' }],
    ['a comment behind quotes', 'NAME="a b" # note', { NAME: 'a b' }],
    ['a comment behind nothing', 'EMPTY=   # later', { EMPTY: '' }],
    ['a comment behind options', '-e A=1 # web', { A: '1' }],
    ['a number sign in a value', 'PASS=ab#cd\nURL=http://h/#x', { PASS: 'ab#cd', URL: 'http://h/#x' }],
    [
      'escapes in double quotes',
      `${String.raw`C="x\ny"`}\n${String.raw`E="say \"hi\""`}`,
      { C: 'x\ny', E: 'say "hi"' },
    ],
    [
      'no escapes elsewhere',
      `${String.raw`D='x\ny'`}\n${String.raw`W=C:\new`}`,
      { D: String.raw`x\ny`, W: String.raw`C:\new` },
    ],
    ['an apostrophe', "MSG=it is Ann’s\nN=it's fine", { MSG: 'it is Ann’s', N: "it's fine" }],
    ['a word that goes on behind quotes', `Q='it''s'\nexport P="/x y"/z`, { Q: 'its', P: '/x y/z' }],
    ['several to a line', `export V=1 W='a b'\nX=1 Y=2`, { V: '1', W: 'a b', X: '1', Y: '2' }],
    ['Windows’ line ends', 'A="1"\r\nB=2\r\n', { A: '1', B: '2' }],
    ['typographic quotes', '-e A=“hello world” -e B=‘x y’\nC=“z”', { A: 'hello world', B: 'x y', C: 'z' }],
    [
      'a dollar sign that a shell leaves',
      `-e A='$HOME' -e B=\\$x -e C=5$\nD='$x'\nE=$5`,
      { A: '$HOME', B: '$x', C: '5$', D: '$x', E: '$5' },
    ],
    [
      'a quoted value over lines',
      `ONSTART='export A=1\nexport B=2'\nC=3`,
      { ONSTART: 'export A=1\nexport B=2', C: '3' },
    ],
    ['braces over lines', `CONFIG='{\n"a": 1\n}'`, { CONFIG: '{\n"a": 1\n}' }],
    [
      'a script as an option',
      `-e 'SCRIPT=echo a\necho b=c\n' -e D=1`,
      { SCRIPT: 'echo a\necho b=c\n', D: '1' },
    ],
    ['a continued line in double quotes', `-e A="x \\\ny"`, { A: 'x y' }],
    [
      'a continued line in single quotes',
      `-e ARGS='--len 32000 \\\n --x "a b"'`,
      { ARGS: '--len 32000 \\\n --x "a b"' },
    ],
    [
      'lines as Windows’ shell continues them',
      'docker run ^\r\n -e A=1 ^\r\n -e B="x y"',
      { A: '1', B: 'x y' },
    ],
    ['lines as PowerShell continues them', 'docker run `\n -e A=1 `\n -e B="x y"', { A: '1', B: 'x y' }],
    ['a space behind a backslash', 'docker run \\ \n -e A=1 \\  \n -e B=2', { A: '1', B: '2' }],
    ['a short option in a cluster', 'docker run -ite A=1', { A: '1' }],
  ])('%s', (_, text, env) => {
    expect(read(text)).toEqual({ ...nothing, env })
  })

  test('base64 that is wrapped, and a key over lines', () => {
    const [first, second] = [
      'bWFjaGluZSBleGFtcGxlIGxvZ2luIHVzZXIgcGFzc3dvcmQgYWJjZGVmZ2hpamtsbW5vcA',
      'ZGVmZ2hpams=',
    ]
    const pem = '-----BEGIN TEST-----\nQUJDREVG\nR0hJSg==\n-----END TEST-----'
    const env = { AUTH: first + second, KEY: pem }
    expect(read(`-e AUTH=${first}\n${second}\nKEY="${pem}"`)).toEqual({ ...nothing, env })
    expect(read(`AUTH=${first}\n${first}\n${second}\nKEY='${pem}'`)).toEqual({
      ...nothing,
      env: { ...env, AUTH: first + first + second },
    })
  })

  test('a name behind a long value stays a name', () => {
    const token = 'a1'.repeat(20)
    expect(read(`WANDB_API_KEY=${token}\nDEBUG=\nmode=`).env).toEqual({
      WANDB_API_KEY: token,
      DEBUG: '',
      mode: '',
    })
  })

  test.each([
    ['-p 8080:80 -p 127.0.0.1:53:53/udp -p 6006', ['8080:80', '53/udp', '6006']],
    ['-p 8000-8003:8000-8003', ['8000', '8001', '8002', '8003']],
    ['-p 9000-9001:80-81/udp', ['9000:80/udp', '9001:81/udp']],
    ['-p [::1]:9:9 -p 127.0.0.1::80 -p [::]:8080:80', ['9', '80', '8080:80']],
    ['-p 0:80 -p 7:7/TCP', ['80', '7']],
    ['-p 72299:72299', ['72299']],
    ['-dp 80:80 -p5:5 --publish=6:6 --publish 7', ['80', '5', '6', '7']],
  ])('the ports of %j', (text, ports) => {
    expect(read(text)).toEqual({ ...nothing, ports })
  })

  test.each([
    'docker run',
    'sudo docker run',
    'sudo -E docker run',
    '$ docker run',
    'docker container run',
    'podman run',
    'nvidia-docker run',
    '/usr/bin/docker create',
  ])('the options of %s, up to the image', command => {
    expect(read(`${command} -e A=1 -p 80:80 img -e INNER=2 -p 5:5`)).toEqual({
      ...nothing,
      env: { A: '1' },
      ports: ['80'],
      unread: ['img -e INNER=2 -p 5:5'],
    })
  })
})

describe('left out word by word, never silently', () => {
  const portal = 'localhost:1111:11111:/:Portal|localhost:8188:18188:/:Comfy UI'
  const options = [
    'sudo docker run -d --gpus all',
    '--ipc=host --shm-size 16g -p 1111:1111 -p 8000-8010:8000-8010',
    `-p [::1]:9:9 -e PORTAL="${portal}" -e ARGS='--len 32000 --x "a b"'`,
    '-e HF_TOKEN -v /a:/b repo/img:tag --serve',
  ]
  test.each([
    ['one line', ' '],
    ['backslashes', ' \\\n  '],
    ['backslashes and spaces', ' \\ \n'],
    ['Windows', ' ^\r\n  '],
    ['PowerShell', ' `\n'],
  ])('a whole command over lines as of %s', (_, join) => {
    const found = read(options.join(join))
    expect(found.env).toEqual({ PORTAL: portal, ARGS: '--len 32000 --x "a b"' })
    expect(found.ports).toEqual(['1111', ...Array.from({ length: 11 }, (_, at) => String(8000 + at)), '9'])
    expect(found.unset).toEqual(['HF_TOKEN'])
    const left = ['-d', '--gpus all', '--ipc=host', '--shm-size 16g', '-v /a:/b', 'repo/img:tag --serve']
    expect(found.unread).toEqual(left)
    // What is left gives nothing more when it is read again.
    expect(read(left.join('\n'))).toEqual({ ...nothing, unread: left })
  })

  test.each<[string, string[], string[]]>([
    ['docker run -e HF_TOKEN=$HF_TOKEN -p 8000:8000 img', ['HF_TOKEN: $HF_TOKEN'], ['img']],
    ['-e ID=$(id -u)', ['ID: $(id'], ['-u)']],
    ['-e "ID=$(id -u)"', ['ID: $(id -u)'], []],
    ['-e A="$\u007bB}" -e C=%C% -e D', ['A: $\u007bB}', 'C: %C%', 'D'], []],
    ['export PATH=/opt/bin:$PATH', ['PATH: /opt/bin:$PATH'], []],
    ['KEY="$SECRET"', ['KEY: $SECRET'], []],
  ])('%s needs a value', (text, unset, unread) => {
    expect(read(text)).toMatchObject({ env: {}, unset, unread })
  })

  test.each<[string, Record<string, string>, string[]]>([
    ['-e A=1 --gpus all\nwhat is this\n-e B="open', { A: '1' }, ['--gpus all', 'what is this', '-e B="open']],
    [`M='a' 'b'`, { M: 'a' }, [`'b'`]],
    ['V1=1 W1=2 python x.py', { V1: '1', W1: '2' }, ['python x.py']],
    ['A=1\nU="open\nR0hJSg==\nB=2', { A: '1' }, ['U="open\nR0hJSg==\nB=2']],
    [`X='a'#b`, {}, [`X='a'#b`]],
    ['lower.case=1\nA-B=1\nF: x\n- G=x\nset I=1', {}, ['lower.case=1', 'A-B=1', 'F: x', '- G=x', 'set I=1']],
    ['-e-p=1 -e A=1', { A: '1' }, ['-e-p=1']],
    [
      '-e A=1 -p 1-100:1-100 -p 66000:66000 -p 80:x',
      { A: '1' },
      ['-p 1-100:1-100', '-p 66000:66000', '-p 80:x'],
    ],
  ])('%j', (text, env, unread) => {
    expect(read(text)).toEqual({ ...nothing, env, unread })
  })

  test('the options that the service’s own command line takes as one text', () => {
    const own = `--env "-p 22:22 -e KEYS='ssh-ed25519 AAAA me@host' -h box"`
    expect(read(`vastai create instance 123 --image x/y ${own} --disk 50 --ssh`)).toEqual({
      env: { KEYS: 'ssh-ed25519 AAAA me@host' },
      ports: ['22'],
      unset: [],
      unread: ['123', '--image x/y', '-h box', '--disk 50', '--ssh'],
    })
    expect(read(own)).toMatchObject({ env: { KEYS: 'ssh-ed25519 AAAA me@host' }, unread: ['-h box'] })
    expect(read(`vastai create instance 7 --env '-p 8000:8000 -e HF_TOKEN=abc'`)).toMatchObject({
      env: { HF_TOKEN: 'abc' },
      ports: ['8000'],
    })
  })
})

test('long texts of quotes, backslashes and equals signs are read quickly', () => {
  const before = process.cpuUsage()
  for (const part of ['\\"\'', '\\ ', '^ ', '=', ' A=', `A='\n`, '“', '-e ', '$ '])
    for (const start of ['-e A=', 'A=', '']) readPastedOptions(start + part.repeat(20_000))
  // CPU time in milliseconds, independent of load; with backtracking it would take seconds.
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(3000)
})
