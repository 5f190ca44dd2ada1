import * as Blockly from 'blockly';
import { javascriptGenerator } from 'blockly/javascript';
import { pythonGenerator } from 'blockly/python';

const second = new URLSearchParams(location.search).has('second');
const app = document.querySelector('#app');
app.style.cssText = 'display:grid;grid-template-columns:840px 440px;height:800px;font-family:Liberation Sans';
app.innerHTML = `<div id="space"></div><div style="background:#1f2937;color:#e5e7eb;padding:26px;overflow:hidden"><b style="font-size:21px;color:#9cc3ff">${second ? 'Python' : 'JavaScript'}</b><pre id="code" style="font:15px/1.5 DejaVu Sans Mono;white-space:pre-wrap"></pre></div>`;
const category = (name, categorystyle, ...types) => ({
  kind: 'category',
  name,
  categorystyle,
  contents: types.map((type) => ({ kind: 'block', type })),
});
const toolbox = {
  kind: 'categoryToolbox',
  contents: [
    category('Logic', 'logic_category', 'controls_if', 'logic_compare', 'logic_boolean'),
    category('Loops', 'loop_category', 'controls_repeat_ext', 'controls_for'),
    category('Math', 'math_category', 'math_number', 'math_arithmetic', 'math_constrain'),
    category('Text', 'text_category', 'text', 'text_print', 'text_join'),
    category('Lists', 'list_category', 'lists_create_with', 'lists_length'),
    { kind: 'category', name: 'Variables', categorystyle: 'variable_category', custom: 'VARIABLE' },
    { kind: 'category', name: 'Functions', categorystyle: 'procedure_category', custom: 'PROCEDURE' },
  ],
};
const space = Blockly.inject('space', {
  toolbox,
  renderer: second ? 'geras' : 'zelos',
  media: '/node_modules/blockly/media/',
  grid: { spacing: 24, length: 3, colour: '#ccd6e0', snap: true },
  zoom: { controls: true, startScale: second ? 1.05 : 0.9 },
  trashcan: true,
});
const num = (n) => ({ block: { type: 'math_number', fields: { NUM: n } } });
const get = (name) => ({ block: { type: 'variables_get', fields: { VAR: { name } } } });
const text = (t) => ({ block: { type: 'text', fields: { TEXT: t } } });
const first = {
  type: 'variables_set',
  x: 60,
  y: 60,
  fields: { VAR: { name: 'waves' } },
  inputs: { VALUE: num(0) },
  next: {
    block: {
      type: 'controls_repeat_ext',
      inputs: {
        TIMES: num(10),
        DO: {
          block: {
            type: 'math_change',
            fields: { VAR: { name: 'waves' } },
            inputs: { DELTA: num(1) },
            next: {
              block: {
                type: 'controls_if',
                extraState: { hasElse: true },
                inputs: {
                  IF0: {
                    block: { type: 'logic_compare', fields: { OP: 'GT' }, inputs: { A: get('waves'), B: num(7) } },
                  },
                  DO0: { block: { type: 'text_print', inputs: { TEXT: text('High tide!') } } },
                  ELSE: { block: { type: 'text_print', inputs: { TEXT: get('waves') } } },
                },
              },
            },
          },
        },
      },
    },
  },
};
const other = {
  type: 'procedures_defreturn',
  x: 50,
  y: 60,
  fields: { NAME: 'mean height' },
  extraState: { params: [{ name: 'tides', id: 'tides' }] },
  inputs: {
    STACK: {
      block: {
        type: 'variables_set',
        fields: { VAR: { name: 'sum' } },
        inputs: { VALUE: num(0) },
        next: {
          block: {
            type: 'controls_forEach',
            fields: { VAR: { name: 'tide' } },
            inputs: {
              LIST: get('tides'),
              DO: { block: { type: 'math_change', fields: { VAR: { name: 'sum' } }, inputs: { DELTA: get('tide') } } },
            },
          },
        },
      },
    },
    RETURN: {
      block: {
        type: 'math_arithmetic',
        fields: { OP: 'DIVIDE' },
        inputs: { A: get('sum'), B: { block: { type: 'lists_length', inputs: { VALUE: get('tides') } } } },
      },
    },
  },
};
const print = {
  type: 'text_print',
  x: 50,
  y: 430,
  inputs: {
    TEXT: {
      block: {
        type: 'procedures_callreturn',
        extraState: { name: 'mean height', params: ['tides'] },
        inputs: {
          ARG0: {
            block: {
              type: 'lists_create_with',
              extraState: { itemCount: 3 },
              inputs: { ADD0: num(3.1), ADD1: num(6.2), ADD2: num(2.9) },
            },
          },
        },
      },
    },
  },
};
Blockly.serialization.workspaces.load(
  {
    variables: ['waves', 'tides', 'tide', 'sum'].map((name) => ({ name, id: name })),
    blocks: {
      blocks: JSON.parse(
        JSON.stringify(second ? [other, print] : [first]).replace(
          /\{"name":"(waves|tides|tide|sum)"\}/g,
          '{"id":"$1"}',
        ),
      ),
    },
  },
  space,
);
document.querySelector('#code').textContent = (second ? pythonGenerator : javascriptGenerator).workspaceToCode(space);
