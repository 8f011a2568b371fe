/* SPDX-License-Identifier: MIT */
/* Ropes from models' configs: facts of public models, keys that cannot be represented, and the way back. */
#include "common/scaling.h"
#include "models/model.h"
#include "tests/gguf.h"
#include "tests/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- facts of public models --------------------------------------------------------------------- */

/* Factors of Phi-3.5-mini, which its config.json has as f32 numbers. */
#define PHI_LONG                                                                                                       \
  "[1.0800000429153442,1.11,1.14,1.34,1.59,1.6,1.62,2.62,3.23,3.23,4.79,7.4,7.7,9.09,12.2,17.67,24.46,28.57,30.42,"    \
  "30.84,32.59,32.93,42.32,44.96,50.34,50.45,57.55,57.93,58.21,60.14,62.61,62.62,62.71,63.14,63.14,63.77,63.93,63.96," \
  "63.97,64.03,64.07,64.08,64.12,64.41,64.48,64.51,64.53,64.83999633789062]"
#define PHI_SHORT                                                                                                      \
  "[1,1.02,1.03,1.03,1.05,1.05,1.05,1.05,1.05,1.07,1.1,1.11,1.16,1.16,1.17,1.29,1.34,1.68,1.79,1.82,1.85,1.88,1.91,"   \
  "1.94,1.99,2.02,2.02,2.02,2.02,2.02,2.02,2.03,2.03,2.03,2.03,2.03,2.03,2.03,2.03,2.03,2.08,2.09,2.19,2.22,2.59,"     \
  "2.73,2.75,2.8399994373321533]"

typedef struct family {
  const char *name;   /* the repository on huggingface.co whose config.json has these numbers */
  const char *config; /* those of its keys that matter */
  const char *layer;
  double base;
  int64_t dim, head, positions;
  int64_t length;      /* of a sequence, */
  const char *scaling; /* whose scaling begins so */
  double attention;    /* of it: 0 is the formula's */
  posenc_layout pairs;
} family;

#define HALVES POSENC_SPLIT
#define PAIRS POSENC_INTERLEAVED

static const family families[] = {
    {"meta-llama/Llama-2-7b-hf",
     "{'model_type':'llama','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':4096,"
     "'rope_scaling':null}",
     NULL, 1e4, 128, 128, 4096, 4096, "none", 0, HALVES},
    {"meta-llama/Meta-Llama-3-8B",
     "{'model_type':'llama','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':8192,"
     "'rope_theta':500000.0,'rope_scaling':null}",
     NULL, 5e5, 128, 128, 8192, 8192, "none", 0, HALVES},
    {"meta-llama/Llama-3.1-8B",
     "{'model_type':'llama','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':131072,"
     "'rope_theta':500000.0,'rope_scaling':{'factor':8.0,'low_freq_factor':1.0,'high_freq_factor':4.0,"
     "'original_max_position_embeddings':8192,'rope_type':'llama3'}}",
     NULL, 5e5, 128, 128, 131072, 131072, "llama3", 0, HALVES},
    {"meta-llama/Llama-3.2-1B",
     "{'model_type':'llama','hidden_size':2048,'num_attention_heads':32,'head_dim':64,"
     "'max_position_embeddings':131072,'rope_theta':500000.0,'rope_scaling':{'factor':32.0,'low_freq_factor':1.0,"
     "'high_freq_factor':4.0,'original_max_position_embeddings':8192,'rope_type':'llama3'}}",
     NULL, 5e5, 64, 64, 131072, 100, "llama3,factor=32", 0, HALVES},
    {"mistralai/Mistral-7B-v0.1",
     "{'model_type':'mistral','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':32768,"
     "'rope_theta':10000.0,'sliding_window':4096}",
     NULL, 1e4, 128, 128, 32768, 1, "none", 0, HALVES},
    {"mistralai/Mistral-Nemo-Base-2407",
     "{'model_type':'mistral','hidden_size':5120,'num_attention_heads':32,'head_dim':128,"
     "'max_position_embeddings':131072,'rope_theta':1000000.0}",
     NULL, 1e6, 128, 128, 131072, 1, "none", 0, HALVES},
    {"mistralai/Mixtral-8x7B-v0.1",
     "{'model_type':'mixtral','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':32768,"
     "'rope_theta':1000000.0}",
     NULL, 1e6, 128, 128, 32768, 1, "none", 0, HALVES},
    {"Qwen/Qwen2-7B",
     "{'model_type':'qwen2','hidden_size':3584,'num_attention_heads':28,'max_position_embeddings':131072,"
     "'rope_theta':1000000.0}",
     NULL, 1e6, 128, 128, 131072, 1, "none", 0, HALVES},
    {"Qwen/Qwen2.5-7B-Instruct, with the rope_scaling of its README",
     "{'model_type':'qwen2','hidden_size':3584,'num_attention_heads':28,'max_position_embeddings':32768,"
     "'rope_theta':1000000.0,'rope_scaling':{'factor':4.0,'original_max_position_embeddings':32768,'type':'yarn'}}",
     NULL, 1e6, 128, 128, 32768, 1, "yarn,factor=4,original=32768", 0, HALVES},
    {"Qwen/Qwen2-VL-7B-Instruct",
     "{'model_type':'qwen2_vl','hidden_size':3584,'num_attention_heads':28,'max_position_embeddings':32768,"
     "'rope_theta':1000000.0,'rope_scaling':{'type':'mrope','mrope_section':[16,24,24]}}",
     NULL, 1e6, 128, 128, 32768, 1, "none", 0, HALVES},
    {"Qwen/Qwen3-0.6B",
     "{'model_type':'qwen3','hidden_size':1024,'num_attention_heads':16,'head_dim':128,"
     "'max_position_embeddings':40960,'rope_theta':1000000,'rope_scaling':null}",
     NULL, 1e6, 128, 128, 40960, 1, "none", 0, HALVES},
    {"google/gemma-2-9b",
     "{'model_type':'gemma2','hidden_size':3584,'num_attention_heads':16,'head_dim':256,"
     "'max_position_embeddings':8192,'rope_theta':10000.0}",
     NULL, 1e4, 256, 256, 8192, 1, "none", 0, HALVES},
    {"google/gemma-3-1b-pt, full attention",
     "{'model_type':'gemma3_text','hidden_size':1152,'num_attention_heads':4,'head_dim':256,"
     "'max_position_embeddings':32768,'rope_theta':1000000,'rope_local_base_freq':10000,'rope_scaling':null}",
     "full_attention", 1e6, 256, 256, 32768, 1, "none", 0, HALVES},
    {"google/gemma-3-1b-pt, sliding attention",
     "{'model_type':'gemma3_text','hidden_size':1152,'num_attention_heads':4,'head_dim':256,"
     "'max_position_embeddings':32768,'rope_theta':1000000,'rope_local_base_freq':10000,'rope_scaling':null}",
     "sliding_attention", 1e4, 256, 256, 32768, 1, "none", 0, HALVES},
    {"google/gemma-3-4b-it, whose text_config leaves out the class's defaults",
     "{'model_type':'gemma3','text_config':{'model_type':'gemma3_text','hidden_size':2560,"
     "'rope_scaling':{'factor':8.0,'rope_type':'linear'},'sliding_window':1024}}",
     "full_attention", 1e6, 256, 256, 131072, 1, "linear,factor=8", 0, HALVES},
    {"google/gemma-3-27b-it, sliding attention, without the scaling",
     "{'model_type':'gemma3','text_config':{'model_type':'gemma3_text','hidden_size':5376,'head_dim':128,"
     "'num_attention_heads':32,'rope_scaling':{'factor':8.0,'rope_type':'linear'},'sliding_window':1024}}",
     "sliding_attention", 1e4, 128, 128, 131072, 1, "none", 0, HALVES},
    {"the same in the form of transformers 5",
     "{'text_config':{'model_type':'gemma3_text','head_dim':128,'rope_parameters':{'full_attention':{'factor':8.0,"
     "'rope_theta':1000000.0,'rope_type':'linear'},'sliding_attention':{'rope_theta':10000.0,"
     "'rope_type':'default'}}}}",
     "full_attention", 1e6, 128, 128, 131072, 1, "linear,factor=8", 0, HALVES},
    {"microsoft/phi-2",
     "{'model_type':'phi','hidden_size':2560,'num_attention_heads':32,'max_position_embeddings':2048,"
     "'partial_rotary_factor':0.4,'rope_theta':10000.0,'rope_scaling':null}",
     NULL, 1e4, 32, 80, 2048, 1, "none", 0, HALVES},
    {"microsoft/Phi-3.5-mini-instruct, short",
     "{'model_type':'phi3','hidden_size':3072,'num_attention_heads':32,'max_position_embeddings':131072,"
     "'original_max_position_embeddings':4096,'rope_theta':10000.0,'rope_scaling':{'long_factor':" PHI_LONG
     ",'short_factor':" PHI_SHORT ",'type':'longrope'}}",
     NULL, 1e4, 96, 96, 131072, 4096, "longrope,factor=32,original=4096,factors=1:1.02:1.03", 0, HALVES},
    {"microsoft/Phi-3.5-mini-instruct, long",
     "{'model_type':'phi3','hidden_size':3072,'num_attention_heads':32,'max_position_embeddings':131072,"
     "'original_max_position_embeddings':4096,'rope_theta':10000.0,'rope_scaling':{'long_factor':" PHI_LONG
     ",'short_factor':" PHI_SHORT ",'type':'su'}}",
     NULL, 1e4, 96, 96, 131072, 4097, "longrope,factor=32,original=4096,factors=1.0800000429153442:1.11", 0, HALVES},
    {"microsoft/Phi-4-mini-instruct, whose head has 128 columns",
     "{'model_type':'phi3','hidden_size':3072,'num_attention_heads':24,'partial_rotary_factor':0.75,"
     "'max_position_embeddings':131072,'original_max_position_embeddings':4096,'rope_theta':10000.0,"
     "'rope_scaling':{'long_factor':" PHI_LONG ",'short_factor':" PHI_SHORT ",'type':'longrope'}}",
     NULL, 1e4, 96, 128, 131072, 4097, "longrope,factor=32,original=4096", 0, HALVES},
    {"microsoft/phi-4",
     "{'model_type':'phi3','hidden_size':5120,'num_attention_heads':40,'max_position_embeddings':16384,"
     "'original_max_position_embeddings':16384,'rope_theta':250000,'rope_scaling':null}",
     NULL, 250000, 128, 128, 16384, 1, "none", 0, HALVES},
    {"deepseek-ai/DeepSeek-V2",
     "{'model_type':'deepseek_v2','hidden_size':5120,'num_attention_heads':128,'qk_nope_head_dim':128,"
     "'qk_rope_head_dim':64,'max_position_embeddings':163840,'rope_theta':10000,'rope_scaling':{'beta_fast':32,"
     "'beta_slow':1,'factor':40,'mscale':0.707,'mscale_all_dim':0.707,'original_max_position_embeddings':4096,"
     "'type':'yarn'}}",
     NULL, 1e4, 64, 192, 163840, 1, "yarn,factor=40,original=4096,attention=1", 1, PAIRS},
    {"deepseek-ai/DeepSeek-V3",
     "{'model_type':'deepseek_v3','hidden_size':7168,'num_attention_heads':128,'qk_nope_head_dim':128,"
     "'qk_rope_head_dim':64,'max_position_embeddings':163840,'rope_theta':10000,'rope_scaling':{'beta_fast':32,"
     "'beta_slow':1,'factor':40,'mscale':1.0,'mscale_all_dim':1.0,'original_max_position_embeddings':4096,"
     "'type':'yarn'}}",
     NULL, 1e4, 64, 192, 163840, 1, "yarn,factor=40,original=4096,attention=1", 1, PAIRS},
    {"EleutherAI/gpt-neox-20b",
     "{'model_type':'gpt_neox','hidden_size':6144,'num_attention_heads':64,'max_position_embeddings':2048,"
     "'rotary_emb_base':10000,'rotary_pct':0.25}",
     NULL, 1e4, 24, 96, 2048, 1, "none", 0, HALVES},
    {"EleutherAI/pythia-1.4b",
     "{'model_type':'gpt_neox','hidden_size':2048,'num_attention_heads':16,'max_position_embeddings':2048,"
     "'rotary_emb_base':10000,'rotary_pct':0.25}",
     NULL, 1e4, 32, 128, 2048, 1, "none", 0, HALVES},
    {"EleutherAI/gpt-j-6b", "{'model_type':'gptj','n_embd':4096,'n_head':16,'n_positions':2048,'rotary_dim':64}", NULL,
     1e4, 64, 256, 2048, 1, "none", 0, PAIRS},
    {"tiiuae/falcon-7b", "{'model_type':'falcon','hidden_size':4544,'num_attention_heads':71,'alibi':false}", NULL, 1e4,
     64, 64, 0, 1, "none", 0, HALVES},
    {"stabilityai/stablelm-2-1_6b",
     "{'model_type':'stablelm','hidden_size':2048,'num_attention_heads':32,'max_position_embeddings':4096,"
     "'partial_rotary_factor':0.25,'rope_theta':10000}",
     NULL, 1e4, 16, 64, 4096, 1, "none", 0, HALVES},
    {"CohereForAI/c4ai-command-r-v01",
     "{'model_type':'cohere','hidden_size':8192,'num_attention_heads':64,'max_position_embeddings':8192,"
     "'rope_theta':8000000.0}",
     NULL, 8e6, 128, 128, 8192, 1, "none", 0, PAIRS},
    {"answerdotai/ModernBERT-base, global",
     "{'model_type':'modernbert','hidden_size':768,'num_attention_heads':12,'max_position_embeddings':8192,"
     "'global_rope_theta':160000.0,'local_rope_theta':10000.0,'position_embedding_type':'absolute'}",
     "full_attention", 160000, 64, 64, 8192, 1, "none", 0, HALVES},
    {"answerdotai/ModernBERT-base, local",
     "{'model_type':'modernbert','hidden_size':768,'num_attention_heads':12,'max_position_embeddings':8192,"
     "'global_rope_theta':160000.0,'local_rope_theta':10000.0}",
     "sliding_attention", 1e4, 64, 64, 8192, 1, "none", 0, HALVES},
    {"openai/gpt-oss-20b",
     "{'model_type':'gpt_oss','hidden_size':2880,'num_attention_heads':64,'head_dim':64,"
     "'max_position_embeddings':131072,'rope_theta':150000,'rope_scaling':{'beta_fast':32.0,'beta_slow':1.0,"
     "'factor':32.0,'original_max_position_embeddings':4096,'rope_type':'yarn','truncate':false}}",
     NULL, 150000, 64, 64, 131072, 1, "yarn,factor=32,original=4096,truncate=no", 0, HALVES},
    {"allenai/OLMo-2-1124-7B",
     "{'model_type':'olmo2','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':4096,"
     "'rope_theta':500000,'rope_scaling':null}",
     NULL, 5e5, 128, 128, 4096, 1, "none", 0, HALVES},
    {"lmsys/vicuna-7b-v1.5-16k",
     "{'model_type':'llama','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':4096,"
     "'rope_scaling':{'factor':4.0,'type':'linear'}}",
     NULL, 1e4, 128, 128, 4096, 1, "linear,factor=4", 0, HALVES},
    {"tencent/Hunyuan-A13B-Instruct, whose base is stretched by 1000",
     "{'model_type':'hunyuan_v1_moe','hidden_size':4096,'num_attention_heads':32,'attention_head_dim':128,"
     "'head_dim':128,'max_position_embeddings':32768,'rope_theta':10000.0,'rope_scaling':{'alpha':1000.0,"
     "'beta_fast':32,'beta_slow':1,'factor':1.0,'mscale':1.0,'mscale_all_dim':1.0,'type':'dynamic'}}",
     NULL, 1e4, 128, 128, 32768, 1, "dynamic,factor=1,original=2,length=2000", 0, HALVES},
    {"THUDM/glm-4-9b-chat-hf",
     "{'model_type':'glm','hidden_size':4096,'num_attention_heads':32,'head_dim':128,'partial_rotary_factor':0.5,"
     "'max_position_embeddings':131072,'rope_theta':10000.0}",
     NULL, 1e4, 64, 128, 131072, 1, "none", 0, PAIRS},
    {"THUDM/chatglm3-6b-32k",
     "{'model_type':'chatglm','hidden_size':4096,'num_attention_heads':32,'kv_channels':128,'seq_length':32768,"
     "'rope_ratio':50}",
     NULL, 5e5, 128, 128, 32768, 1, "none", 0, PAIRS},
    {"nomic-ai/nomic-bert-2048",
     "{'model_type':'nomic_bert','n_embd':768,'n_head':12,'n_positions':2048,'rotary_emb_base':1000,"
     "'rotary_emb_fraction':1.0,'rotary_emb_interleaved':false,'rotary_emb_scale_base':null}",
     NULL, 1000, 64, 64, 2048, 1, "none", 0, HALVES},
};

/* The text with its quotes as JSON has them; to be freed. */
static char *quoted(const char *text) {
  char *json = strdup(text);
  for (char *c = json; json && *c; c++)
    if (*c == '\'') *c = '"';
  if (!json) abort();
  return json;
}

static model *open_text(const char *text, fault *why) {
  char *json = quoted(text);
  model *m = model_open_memory(json, strlen(json), why);
  free(json);
  return m;
}

static char *scaling_text(const posenc_scaling *scaling, int64_t dim) {
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  if (!stream) abort();
  scaling_write(scaling, dim, stream);
  fclose(stream);
  return text;
}

static void check_family(const family *f) {
  fault why = {""};
  model_rope rope = {0};
  model *m = open_text(f->config, &why);
  const bool is_read = m && model_rope_of(m, f->layer, NULL, NULL, &rope, &why);
  if (!ok(is_read, "%s", f->name)) printf("# %s\n", why.text);
  if (is_read) {
    const posenc_scaling scaling = model_scaling(&rope, f->length);
    char *text = scaling_text(&scaling, rope.dim);
    ok(rope.base == f->base && rope.dim == f->dim && rope.head == f->head && rope.positions == f->positions &&
           rope.pairs == f->pairs && rope.has_pairs && rope.start + (f->head == 192 ? 64 : rope.dim) <= rope.head,
       "%s: base %g, %d of %d columns, %d positions", f->name, rope.base, (int)rope.dim, (int)rope.head,
       (int)rope.positions);
    ok(strncmp(text, f->scaling, strlen(f->scaling)) == 0 && fabs(scaling.attention - f->attention) <= 0.0,
       "%s: scaling %.80s", f->name, text);
    free(text);
  }
  model_close(m);
}

/* ---- what is refused, and what is told ----------------------------------------------------------- */

#define HEAD "'model_type':'x','head_dim':64,'max_position_embeddings':4096,"

static const struct {
  const char *config, *layer, *words;
} refused[] = {
    {"[1]", NULL, "neither a config.json nor a GGUF file"},
    {"{'a':1,}", NULL, "line 1: "},
    {"{'a':1,'a':2}", NULL, "line 1: duplicate"},
    {"{'hidden_size':768,'num_attention_heads':12,'model_type':'bert'}", NULL, "none of its keys is about rope"},
    {"{" HEAD "'rope_theta':'large'}", NULL, "rope_theta \"large\": no number"},
    {"{" HEAD "'rope_theta':9007199254740993}", NULL, "rope_theta 9007199254740993: an integer that is no double"},
    {"{" HEAD "'rope_theta':-1}", NULL, "its rope is refused: "},
    {"{'head_dim':64.5,'rope_theta':1e4}", NULL, "head_dim 64.5: no whole number"},
    {"{'head_dim':0,'rope_theta':1e4}", NULL, "head_dim 0: no number of columns"},
    {"{'head_dim':66,'rope_theta':1e4,'partial_rotary_factor':0.5}", NULL, "33 columns are turned, which is odd"},
    {"{" HEAD "'rope_theta':1e4,'partial_rotary_factor':1.5}", NULL, "partial_rotary_factor 1.5: no share"},
    {"{" HEAD "'rope_theta':1e4,'rope_scaling':4}", NULL, "rope_scaling 4: no object"},
    {"{" HEAD "'rope_theta':1e4,'rope_scaling':{'factor':4}}", NULL, "rope_type is missing"},
    {"{" HEAD "'rope_theta':1e4,'rope_scaling':{'type':'linear'}}", NULL, "factor is missing"},
    {"{" HEAD "'rope_theta':1e4,'rope_scaling':{'type':'proportional'}}", NULL,
     "rope_scaling.type proportional: that scaling is not known"},
    {"{" HEAD "'rope_parameters':{'rope_theta':1e4,'rope_type':'default','warp':3}}", NULL,
     "rope_parameters.warp 3: what it means is not known"},
    {"{" HEAD "'rope_scaling':{'type':'llama3','factor':8,'low_freq_factor':1,'high_freq_factor':4}}", NULL,
     "original_max_position_embeddings is missing"},
    {"{" HEAD "'rope_scaling':{'type':'longrope','factor':8,'short_factor':[1,2],'long_factor':[1,2]}}", NULL,
     "rope_scaling.short_factor: 2 factors, and 32 pairs are turned"},
    {"{" HEAD "'rope_scaling':{'type':'dynamic','alpha':1.1}}", NULL, "rope_scaling.alpha 1.1: "},
    {"{" HEAD "'rope_scaling':{'type':'yarn','factor':0.5}}", NULL, "its rope is refused: "},
    {"{" HEAD "'rope_scaling':{'type':'yarn','factor':4,'truncate':1}}", NULL, "truncate 1: not true or false"},
    {"{" HEAD "'alibi':true,'rope_theta':1e4}", NULL, "alibi true: the model has no rope"},
    {"{" HEAD "'rotary_emb_base':1e4,'rotary_emb_scale_base':512}", NULL, "rotary_emb_scale_base 512: xPos"},
    {"{" HEAD "'rope_theta':1e6,'rope_local_base_freq':1e4}", NULL,
     "layers have several ropes, --layer-type chooses: full_attention, sliding_attention"},
    {"{" HEAD "'rope_theta':1e6,'rope_local_base_freq':1e4}", "middle", "no such layers; it has full_attention, "},
    {"{" HEAD "'rope_theta':1e6}", "full_attention", "all layers have one rope"},
};

static void check_refused(size_t n) {
  fault why = {""};
  model_rope rope;
  model *m = open_text(refused[n].config, &why);
  const bool is_read = m && model_rope_of(m, refused[n].layer, NULL, NULL, &rope, &why);
  if (!ok(!is_read && strstr(why.text, refused[n].words), "refused: %s", refused[n].words))
    printf("# %s\n", is_read ? "accepted" : why.text);
  model_close(m);
}

static const struct {
  const char *config, *words;
} told[] = {
    {"{" HEAD "'rope_scaling':null}", "the base is not in it; 10000 is taken"},
    {"{'model_type':'gpt_oss','rope_scaling':null}", "head_dim is not in it; gpt_oss's default, 64, is taken"},
    {"{" HEAD "'rope_theta':1e4,'no_rope_layers':[1,0]}", "no_rope_layers [1, 0] is not looked at"},
    {"{" HEAD "'rope_theta':1e4,'rope_scaling':{'type':'linear','factor':2,'beta_fast':32}}",
     "rope_scaling.beta_fast 32 has no effect there"},
    {"{" HEAD "'rope_theta':1e4,'rope_scaling':{'type':'default','mrope_section':[8,12,12]}}",
     "rope_scaling.mrope_section [8, 12, 12]: the positions of all axes are taken as equal"},
    {"{" HEAD "'rope_theta':1e4,'rope_scaling':{'type':'yarn','factor':4,'mscale':0.7}}",
     "rope_scaling.mscale has no effect, as mscale_all_dim is missing or 0"},
    {"{" HEAD "'rope_theta':1e4,'rope_scaling':{'type':'yarn','factor':4,'finetuned':true}}", NULL},
    {"{" HEAD "'rope_theta':1e4,'layer_norm_eps':1e-5,'model_name':'europe'}", NULL},
};

static void note_words(const char *text, void *argument) {
  char *all = argument;
  snprintf(all + strlen(all), 2000 - strlen(all), "%s\n", text);
}

static void check_told(size_t n) {
  char all[2000] = "";
  fault why = {""};
  model_rope rope;
  model *m = open_text(told[n].config, &why);
  const bool is_read = m && model_rope_of(m, NULL, note_words, all, &rope, &why);
  const bool as_wanted = is_read && (told[n].words ? strstr(all, told[n].words) != NULL : !*all);
  if (!ok(as_wanted, "told: %s", told[n].words ? told[n].words : "nothing")) printf("# %s%s\n", all, why.text);
  model_close(m);
}

/* ---- the length of the sequence ------------------------------------------------------------------ */

static void check_lengths(void) {
  static const char dynamic[] = "{" HEAD "'rope_theta':1e4,'rope_scaling':{'type':'dynamic','factor':2}}";
  fault why;
  model_rope rope = {0};
  model *m = open_text(dynamic, &why);
  ok(m && model_rope_of(m, NULL, NULL, NULL, &rope, &why), "dynamic is read");
  const posenc_scaling s = model_scaling(&rope, 8192);
  ok(s.kind == POSENC_SCALING_DYNAMIC && s.length == 8192 && s.original == 4096 && s.factor == 2.0,
     "dynamic of a sequence of 8192 positions");
  model_close(m);
}

/* mscale and mscale_all_dim that differ, and an attention factor beside them. */
static void check_attention(void) {
  static const struct {
    const char *keys;
    double attention;
  } cases[] = {{"'mscale':1.0,'mscale_all_dim':0.5", (0.1 * 3.6888794541139363 + 1) / (0.05 * 3.6888794541139363 + 1)},
               {"'mscale':1.0,'mscale_all_dim':0.5,'attention_factor':1.25", 1.25},
               {"'mscale':1.0,'mscale_all_dim':0", 0.0},
               {"'beta_fast':0", 0.0}};
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
    char config[400];
    fault why = {""};
    model_rope rope = {0};
    snprintf(config, sizeof config, "{" HEAD "'rope_scaling':{'type':'yarn','factor':40,%s}}", cases[n].keys);
    model *m = open_text(config, &why);
    ok(m && model_rope_of(m, NULL, NULL, NULL, &rope, &why) &&
           fabs(rope.scaling.attention - cases[n].attention) <= 1e-15 && rope.scaling.high == 32.0,
       "yarn with %s: attention %.17g", cases[n].keys, rope.scaling.attention);
    model_close(m);
  }
}

/* ---- GGUF ---------------------------------------------------------------------------------------- */

/* Writes of convert_hf_to_gguf.py for these models, in small. */
static void check_gguf(void) {
  gguf_file f = gguf_begin("llama");
  fault why = {""};
  model_rope rope = {0};
  float factors[32];
  for (int i = 0; i < 32; i++) factors[i] = i < 15 ? 1.0f : i < 22 ? 1.5f + (float)i : 32.0f;
  gguf_add_u32(&f, "llama.context_length", 131072);
  gguf_add_u32(&f, "llama.embedding_length", 2048);
  gguf_add_u32(&f, "llama.attention.head_count", 32);
  gguf_add_u32(&f, "llama.rope.dimension_count", 64);
  gguf_add_f32(&f, "llama.rope.freq_base", 500000.0f);
  gguf_add_strings(&f, "tokenizer.ggml.tokens", 3);
  gguf_add_tensor(&f, "token_embd.weight", NULL, 96);
  gguf_add_tensor(&f, "rope_freqs.weight", factors, 32);
  gguf_end(&f);
  model *m = model_open_memory(f.bytes, f.size, &why);
  if (!ok(m && model_rope_of(m, NULL, NULL, NULL, &rope, &why), "a GGUF file of Llama 3.2 1B"))
    printf("# %s\n", why.text);
  ok(rope.base == 500000.0 && rope.dim == 64 && rope.head == 64 && rope.positions == 131072 &&
         rope.pairs == POSENC_INTERLEAVED,
     "its base, columns and pairs, which are neighbours in llama.cpp");
  ok(rope.scaling.kind == POSENC_SCALING_LONGROPE && rope.scaling.factors && rope.scaling.factors[14] == 1.0 &&
         rope.scaling.factors[16] == 17.5 && rope.scaling.factors[31] == 32.0 && rope.scaling.attention == 1.0,
     "its factors of frequencies");
  model_close(m);
  gguf_free(&f);

  f = gguf_begin("deepseek2");
  gguf_add_u32(&f, "deepseek2.context_length", 163840);
  gguf_add_u32(&f, "deepseek2.attention.key_length", 192);
  gguf_add_u32(&f, "deepseek2.rope.dimension_count", 64);
  gguf_add_f32(&f, "deepseek2.rope.freq_base", 10000.0f);
  gguf_add_text(&f, "deepseek2.rope.scaling.type", "yarn");
  gguf_add_f32(&f, "deepseek2.rope.scaling.factor", 40.0f);
  gguf_add_u32(&f, "deepseek2.rope.scaling.original_context_length", 4096);
  gguf_add_f32(&f, "deepseek2.rope.scaling.yarn_log_multiplier", 0.1f);
  gguf_end(&f);
  m = model_open_memory(f.bytes, f.size, &why);
  ok(m && model_rope_of(m, NULL, NULL, NULL, &rope, &why) && rope.dim == 64 && rope.head == 192 &&
         rope.scaling.kind == POSENC_SCALING_YARN && rope.scaling.factor == 40.0 && rope.scaling.original == 4096 &&
         rope.scaling.attention == 1.0,
     "a GGUF file of DeepSeek V3: yarn without an attention factor");
  model_close(m);
  gguf_free(&f);

  f = gguf_begin("phi3");
  gguf_add_u32(&f, "phi3.context_length", 131072);
  gguf_add_u32(&f, "phi3.rope.dimension_count", 64);
  gguf_add_u32(&f, "phi3.rope.scaling.original_context_length", 4096);
  gguf_add_f32(&f, "phi3.rope.scaling.attn_factor", 1.25f);
  gguf_add_tensor(&f, "rope_factors_long.weight", factors, 32);
  factors[3] = 3.0f;
  gguf_add_tensor(&f, "rope_factors_short.weight", factors, 32);
  gguf_end(&f);
  m = model_open_memory(f.bytes, f.size, &why);
  ok(m && model_rope_of(m, NULL, NULL, NULL, &rope, &why) && rope.base == 10000.0 && rope.pairs == POSENC_SPLIT &&
         model_scaling(&rope, 4096).factors[3] == 3.0 && model_scaling(&rope, 4097).factors[3] == 1.0 &&
         rope.scaling.attention == 1.25 && rope.longer.attention == 1.25,
     "a GGUF file of Phi 3: factors by length, halves");
  model_close(m);
  gguf_free(&f);
}

static void check_bad_gguf(void) {
  fault why = {""};
  gguf_file f = gguf_begin("llama");
  gguf_add_f32(&f, "llama.rope.freq_base", NAN);
  gguf_end(&f);
  ok(!model_open_memory(f.bytes, f.size, &why) && strstr(why.text, "llama.rope.freq_base: a number is not finite"),
     "GGUF: %s", why.text);
  gguf_free(&f);
  f = gguf_begin("llama");
  gguf_add_u32(&f, "llama.rope.dimension_count", 64);
  gguf_add_u32(&f, "llama.rope.dimension_count", 64);
  gguf_end(&f);
  ok(!model_open_memory(f.bytes, f.size, &why) && strstr(why.text, "it is there twice"), "GGUF: %s", why.text);
  for (size_t size = 4; size < f.size; size++)
    if (model_open_memory(f.bytes, size, &why) || !strstr(why.text, "header")) {
      ok(false, "GGUF cut at %zu: %s", size, why.text);
      break;
    }
  f.bytes[4] = 1;
  ok(!model_open_memory(f.bytes, f.size, &why) && strstr(why.text, "GGUF version 1"), "GGUF: %s", why.text);
  gguf_free(&f);
}

/* ---- the way back -------------------------------------------------------------------------------- */

/* A config that is made of a problem gives the problem. */
static void check_fragment(const family *f) {
  fault why = {""};
  model_rope rope, again;
  model *m = open_text(f->config, &why);
  if (!m || !model_rope_of(m, f->layer, NULL, NULL, &rope, &why)) return;
  posenc_problem problem = posenc_table(1, rope.dim);
  problem.base = rope.base;
  problem.scaling = model_scaling(&rope, f->length);
  json_t *fragment = model_fragment(&problem, &why);
  if (problem.scaling.kind == POSENC_SCALING_DYNAMIC) {
    ok(!fragment && strstr(why.text, "dynamic"), "no config from dynamic: %s", why.text);
  } else {
    if (fragment) model_fragment_head(fragment, rope.dim, rope.start, rope.head);
    char *text = json_dumps(fragment, 0);
    model *other = text ? model_open_memory(text, strlen(text), &why) : NULL;
    const bool is_read = other && model_rope_of(other, NULL, NULL, NULL, &again, &why);
    const posenc_scaling scaling = model_scaling(&again, f->length);
    char *one = scaling_text(&problem.scaling, rope.dim), *two = is_read ? scaling_text(&scaling, again.dim) : NULL;
    ok(two && again.base == rope.base && again.dim == rope.dim && again.head == rope.head && strcmp(one, two) == 0,
       "%s from its own fragment: %.100s", f->name, text ? text : why.text);
    free(one);
    free(two);
    free(text);
    model_close(other);
  }
  json_decref(fragment);
  model_close(m);
}

static void check_no_fragment(void) {
  fault why = {""};
  posenc_problem problem = posenc_table(8, 64);
  problem.shift = 1.0;
  ok(!model_fragment(&problem, &why) && strstr(why.text, "shift"), "no config with a shift: %s", why.text);
  problem.shift = 0.0;
  problem.scaling.attention = 1.5;
  ok(!model_fragment(&problem, &why) && strstr(why.text, "attention"), "none with an attention factor alone");
}

/* ---- suspects ------------------------------------------------------------------------------------ */

static bool has_suspect(const suspect_list *list, const char *words) {
  for (size_t n = 0; n < list->count; n++)
    if (strstr(list->items[n].text, words)) return true;
  return false;
}

static void check_suspects(size_t n, const char *const *words) {
  static suspect_list list;
  fault why;
  model_rope rope;
  model *m = open_text(families[n].config, &why);
  if (!m || !model_rope_of(m, families[n].layer, NULL, NULL, &rope, &why)) return;
  posenc_problem asked = posenc_table(families[n].length, rope.dim);
  asked.base = rope.base;
  asked.scaling = model_scaling(&rope, families[n].length);
  list.count = 0;
  model_suspects(m, families[n].layer, &rope, families[n].length, &asked, &list);
  for (; *words; words++) ok(has_suspect(&list, *words), "%s: suspects that %s", families[n].name, *words);
  for (size_t k = 0; k < list.count; k++) {
    const char *refusal = posenc_problem_refusal(&list.items[k].problem);
    if (refusal) ok(false, "%s, %s: %s", families[n].name, list.items[k].text, refusal);
  }
  model_close(m);
}

int main(void) {
  for (size_t n = 0; n < sizeof families / sizeof *families; n++) check_family(&families[n]);
  for (size_t n = 0; n < sizeof refused / sizeof *refused; n++) check_refused(n);
  for (size_t n = 0; n < sizeof told / sizeof *told; n++) check_told(n);
  check_lengths();
  check_attention();
  check_gguf();
  check_bad_gguf();
  for (size_t n = 0; n < sizeof families / sizeof *families; n++) check_fragment(&families[n]);
  check_no_fragment();
  for (size_t n = 0; n < sizeof families / sizeof *families; n++) {
    static const struct {
      const char *name, *words[4];
    } wanted[] = {
        {"Qwen/Qwen2.5", {"not rounded to whole numbers", "divided by the factor, 4"}},
        {"google/gemma-3-1b-pt, full", {"layers of sliding_attention"}},
        {"microsoft/Phi-3.5-mini-instruct, long", {"factors are those of shorter sequences than 4097"}},
        {"microsoft/phi-2", {"all 80 columns of a head are turned, not 32", "frequencies are those of all 80"}},
        {"deepseek-ai/DeepSeek-V3", {"0.1 ln factor + 1", "the original length is max_position_embeddings, 163840"}},
        {"openai/gpt-oss", {"the ends of the ramp are rounded to", "all frequencies are divided by the factor, 32"}}};
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
      if (strncmp(families[n].name, wanted[k].name, strlen(wanted[k].name)) == 0) check_suspects(n, wanted[k].words);
  }
  return tap_done();
}
