import { defineLanguageFacet, Language, StreamLanguage } from '@codemirror/language'
import type { Extension } from '@codemirror/state'

type Load = () => Promise<Extension>

const shell: Load = async () => {
  const mode = await import('@codemirror/legacy-modes/mode/shell')
  return StreamLanguage.define(mode.shell)
}
const json: Load = async () => (await import('@codemirror/lang-json')).json()
const yaml: Load = async () => (await import('@codemirror/lang-yaml')).yaml()

/** Languages by file extension, each loaded when such a file is first opened. */
const languages: Readonly<Record<string, Load>> = {
  py: async () => (await import('@codemirror/lang-python')).python(),
  json,
  jsonl: json,
  ipynb: json,
  yaml,
  yml: yaml,
  sh: shell,
  bash: shell,
  env: shell,
  bashrc: shell,
  profile: shell,
  toml: async () => {
    const mode = await import('@codemirror/legacy-modes/mode/toml')
    return StreamLanguage.define(mode.toml)
  },
  dockerfile: async () => {
    const mode = await import('@codemirror/legacy-modes/mode/dockerfile')
    return StreamLanguage.define(mode.dockerFile)
  },
  md: async () => {
    const { GFM, parser } = await import('@lezer/markdown')
    return new Language(defineLanguageFacet(), parser.configure(GFM), [], 'markdown').extension
  },
}

/** The syntax highlighting for a file name; empty for an unknown kind of file. */
export async function languageOf(name: string): Promise<Extension> {
  const end = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  return Object.hasOwn(languages, end) ? ((await languages[end]?.()) ?? []) : []
}
