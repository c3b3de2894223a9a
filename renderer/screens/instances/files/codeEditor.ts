import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import {
  bracketMatching,
  defineLanguageFacet,
  HighlightStyle,
  indentOnInput,
  indentUnit,
  Language,
  StreamLanguage,
  syntaxHighlighting,
} from '@codemirror/language'
import { search, searchKeymap } from '@codemirror/search'
import { Compartment, EditorState, type Extension } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLineGutter, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'

interface Options {
  text: string
  /** The file's name, which determines the language. */
  name: string
  label: string
  onchange: (text: string) => void
  /** Whether it was ever changed: Escape closes a text that was only read. */
  touched: () => boolean
  onsave: () => void
}

/** Milliseconds after Escape in which Tab leaves the text. */
const leaving = 2000

/** The search panel's texts, in sentence case. */
const phrases = {
  next: 'Next',
  previous: 'Previous',
  all: 'All',
  'match case': 'Match case',
  regexp: 'Regexp',
  'by word': 'Whole word',
  replace: 'Replace',
  'replace all': 'Replace all',
}

/** Opens an editor in an element; the answer closes it. Its styles are in a shadow root, which the policy allows. */
export function codeEditor(
  host: HTMLElement,
  { text, name, label, onchange, touched, onsave }: Options,
): () => void {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open', delegatesFocus: true })
  const language = new Compartment()
  let escaped = Number.NEGATIVE_INFINITY
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        highlightActiveLineGutter(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        search({ top: true }),
        EditorState.phrases.of(phrases),
        indentUnit.of(indentOf(text, name)),
        EditorState.tabSize.of(4),
        syntaxHighlighting(colours),
        editorTheme,
        language.of([]),
        keymap.of([
          {
            key: 'Mod-s',
            run: () => {
              onsave()
              return true
            },
          },
          ...searchKeymap,
          ...historyKeymap,
          // Its Escape would simplify a selection, and then Tab would not leave the text.
          ...defaultKeymap.filter(({ key }) => key !== 'Escape'),
          indentWithTab,
        ]),
        EditorView.contentAttributes.of({ 'aria-label': label, 'aria-keyshortcuts': 'Control+S Meta+S' }),
        EditorView.updateListener.of(update => {
          if (update.docChanged) onchange(update.state.sliceDoc())
        }),
      ],
    }),
  })

  /** The first Escape lets Tab leave a text that was changed, or closes the search; only the next one reaches the dialog. */
  function keepEscape(event: KeyboardEvent): void {
    if (event.key !== 'Escape') return
    const first = event.timeStamp - escaped > leaving
    if (event.defaultPrevented || (first && touched())) event.stopPropagation()
    escaped = event.defaultPrevented ? Number.NEGATIVE_INFINITY : event.timeStamp
  }
  host.addEventListener('keydown', keepEscape)
  void languageOf(name)
    .then(found => view.dispatch({ effects: language.reconfigure(found) }))
    .catch(() => undefined)
  view.focus()
  return () => {
    host.removeEventListener('keydown', keepEscape)
    view.destroy()
  }
}

/** One step of indentation in a text: that of its first indented line, else the usual one for the file's name. */
export function indentOf(text: string, name: string): string {
  const begins = /^(\t| {2,8})(?=\S)/m.exec(text)?.[1]
  if (begins !== undefined) return begins
  if (/^makefile$/i.test(name)) return '\t'
  return name.endsWith('.py') ? '    ' : '  '
}

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
async function languageOf(name: string): Promise<Extension> {
  const end = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  return Object.hasOwn(languages, end) ? ((await languages[end]?.()) ?? []) : []
}

/** The syntax colours, from the page's tokens for light and dark. */
const colours = HighlightStyle.define([
  {
    tag: [tags.keyword, tags.operatorKeyword, tags.modifier, tags.tagName],
    color: 'var(--accent)',
    fontWeight: '550',
  },
  { tag: [tags.propertyName, tags.attributeName], color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--busy)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--busy)' },
  { tag: [tags.comment, tags.meta, tags.processingInstruction], color: 'var(--text-3)', fontStyle: 'italic' },
  { tag: tags.definition(tags.function(tags.variableName)), fontWeight: '550' },
  { tag: tags.heading, fontWeight: '550', color: 'var(--accent)' },
  { tag: tags.strong, fontWeight: '700' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: [tags.link, tags.url], textDecoration: 'underline' },
  { tag: tags.invalid, color: 'var(--bad)' },
])

const control = {
  font: 'inherit',
  height: '24px',
  padding: '0 8px',
  border: '1px solid var(--line-strong)',
  borderRadius: 'var(--radius)',
  background: 'var(--panel)',
  color: 'var(--text)',
}
const ring = { outline: '2px solid var(--accent)', outlineOffset: '-1px' }

const editorTheme = EditorView.theme({
  '&': {
    height: '100%',
    color: 'var(--text)',
    background: 'var(--panel)',
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--radius)',
    overflow: 'hidden',
  },
  '&.cm-focused': ring,
  '.cm-scroller': { font: '13px / 19px var(--mono)' },
  '.cm-content': { padding: '6px 0', caretColor: 'var(--text)', userSelect: 'text' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': {
    background: 'var(--bg)',
    color: 'var(--text-3)',
    border: '0',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLineGutter': { background: 'var(--hover)', color: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--fill)',
  },
  '&.cm-focused .cm-matchingBracket': {
    background: 'var(--accent-soft)',
    outline: '1px solid var(--accent)',
  },
  '.cm-searchMatch': { background: 'var(--fill-busy)' },
  '.cm-searchMatch-selected': { outline: '1px solid var(--busy)' },
  '.cm-panels': { background: 'var(--bg)', color: 'var(--text-2)', fontSize: '12px' },
  '.cm-panels-top': { borderBottom: '1px solid var(--line)' },
  '.cm-panel.cm-search': { padding: '6px 28px 6px 8px' },
  '.cm-panel.cm-search input, .cm-panel.cm-search button, .cm-panel.cm-search label': {
    margin: '2px 4px 2px 0',
  },
  '.cm-panel.cm-search label': { fontSize: '12px' },
  '.cm-panel.cm-search input[type=checkbox]': { accentColor: 'var(--accent)', verticalAlign: 'middle' },
  '.cm-textfield': control,
  '.cm-textfield:focus-visible, .cm-button:focus-visible': ring,
  '.cm-button': { ...control, backgroundImage: 'none' },
  '.cm-button:hover': { background: 'var(--hover)' },
  '.cm-panel.cm-search [name=close]': { top: '4px', right: '6px', fontSize: '16px', color: 'var(--text-2)' },
})
