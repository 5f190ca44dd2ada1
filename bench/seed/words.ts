import { type Random, randomFrom, zipf } from './random.ts';

const list = (text: string) => text.split(' ');

/** A script, and the words and syllables of its vocabulary. `spaced` is false if words are not separated by spaces. */
export interface Script {
  /** The share of products in this script. */
  share: number;
  frequent: readonly string[];
  syllables: readonly string[];
  spaced: boolean;
}

/**
 * Returns syllables, each built from an onset, a vowel and a coda. Frequent syllables are repeated. The words have as
 * many different trigrams as those of real languages, because a trigram index is fast only if trigrams are rare.
 */
function latinSyllables(): string[] {
  const onsets = list('s t c p m b d f l r n g h w v k st pr tr ch sh th pl cr br gr fl cl sp j qu dr sl sc y z x');
  const vowels = list('e a i o u ea io ou ai ee y oo ie ue');
  const codas = ['', ...list('n r s t l d m nt ng st ck rt nd p x ll ss b g ct mp rd')];
  return onsets.flatMap((onset, first) =>
    vowels.flatMap((vowel, second) =>
      codas.flatMap((coda, third) => {
        const times = Math.ceil(200 / ((first + 6) * (second + 2) * (third + 2)));
        return Array.from({ length: times }, () => onset + vowel + coda);
      }),
    ),
  );
}

export const SCRIPTS: Record<string, Script> = {
  latin: {
    share: 0.79,
    frequent: list(
      'the and of to a in for with your is on that you it from as by or are this be can an all at we our not more ' +
        'without one every new team teams data code app apps build open source fast simple free time work tool tools ' +
        'web api design make users share track write read find search cloud local private secure files image video ' +
        'music photo notes calendar mail chat voice agent agents model models learn learning developers engineers ' +
        'designers students families small business budget health fitness travel food recipes games maps weather home ' +
        'garden energy deploy test tests debug monitor logs metrics database cache queue editor terminal browser ' +
        'extension plugin library framework language compiler schema query table chart dashboard report invoice shop',
    ),
    syllables: latinSyllables(),
    spaced: true,
  },
  han: {
    share: 0.06,
    frequent: list('的 一 是 在 人 有 我 中 大 为 上 个 国 和 要 用户 数据 团队 应用 开发 工具 免费 快速 简单 设计'),
    syllables: list(
      '时 来 会 可 下 能 生 那 里 如 水 地 着 天 道 只 想 起 开 手 行 方 又 如 前 所 本 见 经 头 面 公 同',
    ),
    spaced: false,
  },
  cyrillic: {
    share: 0.05,
    frequent: list(
      'и в не на что с для как это по все к но из у за от без данные команда быстро просто код сайт поиск',
    ),
    syllables: list('ко ра ни то ве ли на пре сто го ро ды ва ет ость ны ми ще ён ка по ску бо лу'),
    spaced: true,
  },
  japanese: {
    share: 0.04,
    frequent: list('の に は を た が で て と し れ さ ある いる する データ チーム アプリ ツール 検索 共有 無料'),
    syllables: list('カ ラ ト ミ ノ さ く ら み ず う み な み 東 京 新 道 風 波 光 音 早 見'),
    spaced: false,
  },
  greek: {
    share: 0.02,
    frequent: list('και το της η ο για με του να σε από είναι που ομάδα δεδομένα γρήγορα απλά κώδικας'),
    syllables: list('κα λο ρα με νο τι στο πα θε ού μα δι φω ρι γε ξά νος'),
    spaced: true,
  },
  arabic: {
    share: 0.02,
    frequent: list('في من على و إلى هذا مع أن عن كل بيانات فريق سريع بسيط مجاني تطبيق بحث'),
    syllables: list('كا مر لو سي نا با دي ري تم عل شا قو'),
    spaced: true,
  },
  hangul: {
    share: 0.02,
    frequent: list('이 그 및 위한 있는 하는 데이터 팀 앱 도구 무료 빠른 간단한 검색 공유'),
    syllables: list('가 나 다 라 마 바 사 아 자 차 카 타 파 하 고 노 도 로 모 보 소 오'),
    spaced: true,
  },
};

export const EMOJI = list('🌊 🚀 ✨ 🔥 🎉 💡 🧠 📦 🛠️ 🔒 📈 🎨 🧪 🗺️ 🎧 👩‍💻 🏄 🇺🇳');

export interface Vocabulary {
  /** Draws a random word. Frequent words are more likely. */
  word(random: Random): string;
  /** Draws a random word that is not a frequent one. */
  rareWord(random: Random): string;
  spaced: boolean;
}

const WORDS = 20_000;

/**
 * Creates a vocabulary in which frequent words are short and rare words are long (Zipf's law of abbreviation), and the
 * probability of the k-th word is about proportional to 1/k.
 */
export function vocabularyOf(script: Script, seed: number): Vocabulary {
  const random = randomFrom(seed);
  const words = [...script.frequent];
  const known = new Set(words);
  for (let tried = 0; words.length < WORDS && tried < WORDS * 10; tried += 1) {
    const syllables = 1 + Math.ceil(random.next() * Math.log10(words.length + 10) * 0.55);
    const word = Array.from({ length: syllables }, () => script.syllables[random.below(script.syllables.length)]).join(
      '',
    );
    if (!known.has(word)) words.push(word);
    known.add(word);
  }
  const anyRank = zipf(words.length, 1, 2);
  const rareRank = zipf(words.length - script.frequent.length, 0.7);
  return {
    word: (source) => words[anyRank(source)] ?? '',
    rareWord: (source) => words[script.frequent.length + rareRank(source)] ?? '',
    spaced: script.spaced,
  };
}
