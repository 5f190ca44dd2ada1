import { GraphiQL } from 'graphiql';
import { buildSchema, graphql } from 'graphql';
import { createRoot } from 'react-dom/client';
import 'graphiql/style.css';

const workers = {
  graphql: 'monaco-graphql/esm/graphql.worker.js',
  json: 'monaco-editor/esm/vs/language/json/json.worker.js',
};
globalThis.MonacoEnvironment = {
  getWorker: (_, label) => new Worker(`/worker/${workers[label] ?? 'monaco-editor/esm/vs/editor/editor.worker.js'}`),
};
const schema = buildSchema(`
  "A place where boats tie up" type Harbour { name: String! country: Country! berths: Int! tide: Tide boats(longerThan: Float = 0): [Boat!]! }
  type Boat { name: String! metres: Float! }
  type Tide { high: String! metres: Float! }
  enum Country { NO UK FR }
  type Query { "All harbours, largest first" harbours(country: Country, first: Int = 3): [Harbour!]! harbour(name: String!): Harbour }
  type Mutation { moor(boat: String!, at: String!): Harbour }
`);
const harbours = [
  {
    name: 'Bergen',
    country: 'NO',
    berths: 340,
    tide: { high: '05:40', metres: 1.2 },
    list: [
      ['Aurora', 82],
      ['Pia', 11],
    ],
  },
  {
    name: 'Brest',
    country: 'FR',
    berths: 310,
    tide: { high: '07:15', metres: 6.2 },
    list: [
      ['Mistral', 24.5],
      ['Lotte', 9],
    ],
  },
  {
    name: 'Oban',
    country: 'UK',
    berths: 120,
    tide: { high: '04:12', metres: 3.1 },
    list: [
      ['Petrel', 14],
      ['Fulmar', 31],
    ],
  },
].map(({ list, ...harbour }) => ({
  ...harbour,
  boats: ({ longerThan }) => list.filter(([, m]) => m > longerThan).map(([name, metres]) => ({ name, metres })),
}));
const rootValue = {
  harbours: ({ first, country }) => harbours.filter((h) => !country || h.country === country).slice(0, first),
  harbour: ({ name }) => harbours.find((h) => h.name === name),
};
const fetcher = ({ query, variables, operationName }) =>
  graphql({ schema, source: query, rootValue, variableValues: variables, operationName });
const initialQuery = `# Only what the screen needs, in one round trip
query Arrivals($minimum: Float = 10) {
  harbours(first: 3) {
    name
    berths
    tide {
      high
      metres
    }
    boats(longerThan: $minimum) {
      name
    }
  }
}
`;
const theme = new URLSearchParams(location.search).get('theme') ?? 'light';
const app = document.querySelector('#app');
app.style.height = '800px';
createRoot(app).render(
  <GraphiQL
    fetcher={fetcher}
    schema={schema}
    initialQuery={initialQuery}
    defaultQuery={initialQuery}
    forcedTheme={theme}
  />,
);
